package import DBus
package import Domain

/// Who is at a service of ours: one central at a time, from its connection to its leaving.
///
/// Sockets belong to visits, which go by numbers. They are closed only when the link is gone:
/// bluetoothd 5.82 dies of a notify socket that is closed under a link.
package struct GuestBook: Equatable {
    package typealias Visit = Int

    /// What BlueZ says of a device of the adapter.
    package struct Device: Equatable, Sendable {
        package var isConnected: Bool
        package var isBonded: Bool

        package init(isConnected: Bool, isBonded: Bool = false) {
            self.isConnected = isConnected
            self.isBonded = isBonded
        }
    }

    package enum Action: Equatable {
        /// Somebody has subscribed and can be handed out.
        case arrived(Visit)
        /// Nothing more is said on the visit; its socket stays for now.
        case end(Visit)
        /// Its socket goes.
        case close(Visit)
        /// The visit goes on under a new number, with the socket of the old one.
        case goOn(Visit, as: Visit)
        case closeWriter(ObjectPath)
        /// What was written on the visit so far is of a link that is over.
        case forgetWrites(Visit)
        case disconnect(ObjectPath)
        case note(BlueZNote)
    }

    /// How long a bonded central that is back has for subscribing by itself.
    package static let resubscribing = Duration.seconds(2)
    /// How long a central that is connected has for subscribing.
    package static let subscribing = Duration.seconds(30)
    /// Centrals whose subscriptions are remembered at once.
    private static let mostKept = 8

    /// A central that has subscribed.
    private struct Guest: Equatable {
        let visit: Visit
        let device: ObjectPath
        /// Nothing more is said to it.
        var isLost = false
        /// Its link was seen to be gone; the same central may have another one since.
        var hasLeft = false
        /// Whether it was handed out.
        var isPresent = false
        /// The visit before, whose socket goes with this one's.
        var earlier: Visit?
    }

    private let word: String
    private var lastVisit = 0
    private var guest: Guest?
    /// Bonded centrals whose link is gone: BlueZ goes on with the socket of the visit when they are
    /// back, and they may not subscribe again.
    private var kept: [ObjectPath: Kept] = [:]
    /// Centrals that are connected and have not subscribed, since when; nil for those that are not
    /// waited for any more.
    private var waiting: [ObjectPath: Moment?] = [:]
    private var writers: Set<ObjectPath> = []

    private struct Kept: Equatable {
        let visit: Visit
        /// Since when it is back.
        var back: Moment?
    }

    package init(_ word: String) { self.word = word }

    package var deadline: Moment? {
        let back = kept.values.compactMap { $0.back?.advanced(by: Self.resubscribing) }
        let late = waiting.values.compactMap { $0?.advanced(by: Self.subscribing) }
        return (back + late).min()
    }

    /// Who has subscribed and was not handed out.
    package var arrival: Visit? {
        guard let guest, !guest.isPresent, !guest.isLost else { return nil }
        return guest.visit
    }

    /// Whether somebody is there who was handed out.
    package var isServing: Bool { guest.map { $0.isPresent && !$0.isLost } ?? false }

    /// Whether somebody is there, or has come and may still subscribe.
    package var isVisited: Bool { isAwaited || guest.map { !$0.isLost } ?? false }

    /// Whether somebody has come and may still subscribe.
    package var isAwaited: Bool { waiting.values.contains { $0 != nil } }

    /// Whose writes a device's belong to; nil when it is no guest.
    package func visit(of device: ObjectPath) -> Visit? {
        if let guest, guest.device == device, !guest.isLost { return guest.visit }
        return kept[device]?.visit
    }

    // MARK: The daemon's questions

    /// A central switches notifications on; nil when it must not: somebody else is there.
    package mutating func subscribes(_ device: ObjectPath) -> (visit: Visit, [Action])? {
        var actions: [Action] = []
        if let guest {
            guard guest.isLost else { return nil }
            actions += dismiss(guest)
        }
        lastVisit += 1
        waiting.removeValue(forKey: device)
        guest = Guest(
            visit: lastVisit,
            device: device,
            earlier: kept.removeValue(forKey: device)?.visit
        )
        return (lastVisit, actions + [.arrived(lastVisit)])
    }

    /// A socket for what a central writes is wanted; false when there are too many.
    package mutating func opensWriter(_ device: ObjectPath) -> Bool {
        guard writers.contains(device) || writers.count < 8 else { return false }
        writers.insert(device)
        return true
    }

    package mutating func writerGone(_ device: ObjectPath) { writers.remove(device) }

    // MARK: Facts

    /// A device of the adapter is as it is; nil when its object is gone.
    package mutating func changed(
        _ path: ObjectPath,
        _ device: Device?,
        isOurs: Bool,
        at now: Moment
    ) -> [Action] {
        let isConnected = device?.isConnected ?? false
        var actions: [Action] = []
        if let guest, guest.device == path, !isConnected { actions += left(device) }
        if var old = kept[path] {
            if device?.isBonded != true {
                kept[path] = nil
                actions.append(.close(old.visit))
            } else if isConnected != (old.back != nil) {
                if !isConnected { actions.append(.forgetWrites(old.visit)) }
                old.back = isConnected ? now : nil
                kept[path] = old
            }
        } else if !isOurs, isConnected, guest?.device != path {
            if waiting[path] == nil { waiting[path] = .some(now) }
        }
        if !isConnected { waiting.removeValue(forKey: path) }
        return actions
    }

    /// The link of the guest is gone: so is its socket, unless BlueZ goes on with it next time.
    private mutating func left(_ device: Device?) -> [Action] {
        guard var guest, !guest.hasLeft else { return [] }
        guest.hasLeft = true
        var actions: [Action] = guest.isLost ? [] : [.end(guest.visit)]
        guest.isLost = true
        if let earlier = guest.earlier { actions.append(.close(earlier)) }
        guest.earlier = nil
        if device?.isBonded == true, kept.count < Self.mostKept {
            kept[guest.device] = Kept(visit: guest.visit)
        } else {
            actions.append(.close(guest.visit))
        }
        self.guest = guest.isPresent ? guest : nil
        return actions
    }

    /// The guest's socket was hung up over there: nobody is subscribed by it any more.
    package mutating func socketGone(_ visit: Visit) -> [Action] {
        for (device, old) in kept where old.visit == visit {
            kept[device] = nil
            return [.close(visit)]
        }
        guard var guest, guest.visit == visit, !guest.isLost else { return [] }
        guest.isLost = true
        let earlier = guest.earlier.map { [Action.close($0)] } ?? []
        guest.earlier = nil
        self.guest = guest.isPresent ? guest : nil
        return [.end(visit), .close(visit)] + earlier
    }

    // MARK: The user's wishes

    /// Hands out who has arrived.
    package mutating func handOut() -> Visit? {
        guard let visit = arrival else { return nil }
        guest?.isPresent = true
        return visit
    }

    /// Anyone who had the guest is done with it.
    package mutating func release(_ visit: Visit, isConnected: Bool) -> [Action] {
        guard var guest, guest.visit == visit else { return [] }
        var actions: [Action] = guest.isLost ? [] : [.end(visit)]
        guest.isLost = true
        self.guest = guest
        // Another link of the same central is not the one to end.
        if !guest.hasLeft, isConnected { actions.append(.disconnect(guest.device)) }
        return actions
    }

    /// The link of a released guest is gone, or will not go.
    package mutating func released(_ visit: Visit, _ device: Device?) -> [Action] {
        guard let guest, guest.visit == visit else { return [] }
        var actions = device?.isConnected == true ? [] : left(device)
        if let still = self.guest, still.visit == visit { actions += dismiss(still) }
        self.guest = nil
        if !(guest.hasLeft && device?.isConnected == true),
            writers.remove(guest.device) != nil
        {
            actions.append(.closeWriter(guest.device))
        }
        return actions
    }

    /// Nothing comes of the service any more.
    package mutating func ended() -> [Action] {
        var actions: [Action] = []
        if let guest { actions += (guest.isLost ? [] : [.end(guest.visit)]) + dismiss(guest) }
        guest = nil
        for device in kept.keys.sorted() {
            if let old = kept[device] { actions.append(.close(old.visit)) }
        }
        kept = [:]
        actions += writers.sorted().map { .closeWriter($0) }
        writers = []
        waiting = [:]
        return actions
    }

    private func dismiss(_ guest: Guest) -> [Action] {
        let isKept = kept.values.contains { $0.visit == guest.visit }
        return (isKept ? [] : [.close(guest.visit)]) + (guest.earlier.map { [.close($0)] } ?? [])
    }

    // MARK: Time

    package mutating func tick(at now: Moment, named name: (ObjectPath) -> String) -> [Action] {
        for case (let device, let since?) in waiting
        where since.advanced(by: Self.subscribing) <= now {
            // It may be another program's: it is left alone.
            waiting[device] = .some(nil)
        }
        var actions: [Action] = []
        for device in kept.keys.sorted() {
            guard let old = kept[device], let back = old.back,
                back.advanced(by: Self.resubscribing) <= now
            else { continue }
            if let guest, !guest.isLost {
                kept[device]?.back = nil
                continue
            }
            if let guest { actions += dismiss(guest) }
            kept[device] = nil
            lastVisit += 1
            guest = Guest(visit: lastVisit, device: device)
            actions += [
                .goOn(old.visit, as: lastVisit),
                .note(.subscriptionRemembered(adapter: word, address: name(device))),
                .arrived(lastVisit),
            ]
        }
        return actions
    }
}
