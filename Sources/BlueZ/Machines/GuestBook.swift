package import Base

/// The central that uses a service of this program: one at a time, from its connection until it
/// leaves.
///
/// Each socket belongs to a visit, and visits are numbered. A socket is closed only when the link
/// is gone: bluetoothd 5.82 crashes when a notify socket is closed while its link exists.
package struct GuestBook: Equatable {
    package typealias Visit = Int

    /// What BlueZ reports of a device at the adapter.
    package struct Device: Equatable, Sendable {
        package var isConnected: Bool
        package var isBonded: Bool

        package init(isConnected: Bool, isBonded: Bool = false) {
            self.isConnected = isConnected
            self.isBonded = isBonded
        }
    }

    package enum Action: Equatable {
        /// A central has subscribed and can be given to the user.
        case arrived(Visit)
        /// The visit ends, but its socket stays open for now.
        case end(Visit)
        /// Closes the socket of the visit.
        case close(Visit)
        /// The visit continues under a new number with its old socket.
        case goOn(Visit, as: Visit)
        case closeWriter(ObjectPath)
        /// Discards the writes of this visit so far: they belong to a link that is gone.
        case forgetWrites(Visit)
        case disconnect(ObjectPath)
        case note(BlueZNote)
    }

    /// How long a bonded central that has reconnected may take to subscribe.
    package static let resubscribing = Duration.seconds(2)
    /// How long a connected central may take to subscribe.
    package static let subscribing = Duration.seconds(30)
    /// The most centrals whose subscriptions are remembered.
    private static let mostKept = 8

    /// A central that has subscribed.
    private struct Guest: Equatable {
        let visit: Visit
        let device: ObjectPath
        /// Nothing more is sent to it.
        var isLost = false
        /// Its link is gone; the same central may have made another link since.
        var hasLeft = false
        /// Whether it was given to the user.
        var isPresent = false
        /// The previous visit, whose socket is closed together with this one's.
        var earlier: Visit?
    }

    private let word: String
    private var lastVisit = 0
    private var guest: Guest?
    /// Bonded centrals whose link is gone.
    ///
    /// When one reconnects, BlueZ continues to use the visit's socket, and the central may not
    /// subscribe again.
    private var kept: [ObjectPath: Kept] = [:]
    /// Connected centrals that have not subscribed, with the time of their connection; nil for
    /// those that are no longer waited for.
    private var waiting: [ObjectPath: Moment?] = [:]
    private var writers: Set<ObjectPath> = []

    private struct Kept: Equatable {
        let visit: Visit
        /// When the central reconnected.
        var back: Moment?
    }

    package init(_ word: String) { self.word = word }

    package var deadline: Moment? {
        let back = kept.values.compactMap { $0.back?.advanced(by: Self.resubscribing) }
        let late = waiting.values.compactMap { $0?.advanced(by: Self.subscribing) }
        return (back + late).min()
    }

    /// The visit of a central that has subscribed and was not yet given to the user.
    package var arrival: Visit? {
        guard let guest, !guest.isPresent, !guest.isLost else { return nil }
        return guest.visit
    }

    /// Whether a central that was given to the user is still there.
    package var isServing: Bool { guest.map { $0.isPresent && !$0.isLost } ?? false }

    /// Whether a central is there, or one is connected and may still subscribe.
    package var isVisited: Bool { isAwaited || guest.map { !$0.isLost } ?? false }

    /// Whether a central is connected and may still subscribe.
    package var isAwaited: Bool { waiting.values.contains { $0 != nil } }

    /// The visit to which a device's writes belong; nil when it has none.
    package func visit(of device: ObjectPath) -> Visit? {
        if let guest, guest.device == device, !guest.isLost { return guest.visit }
        return kept[device]?.visit
    }

    // MARK: Requests of the daemon

    /// A central enables notifications; nil when this is refused, because another central is there.
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

    /// Opens a socket for a central's writes; false when there are too many.
    package mutating func opensWriter(_ device: ObjectPath) -> Bool {
        guard writers.contains(device) || writers.count < 8 else { return false }
        writers.insert(device)
        return true
    }

    package mutating func writerGone(_ device: ObjectPath) { writers.remove(device) }

    // MARK: Events

    /// The state of a device at the adapter has changed; nil when its object is gone.
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

    /// The guest's link is gone.
    ///
    /// Its socket is closed, unless the central is bonded: then BlueZ continues to use it after a
    /// reconnection.
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

    /// The other end of the visit's socket was closed, so the central is no longer subscribed.
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

    // MARK: Requests of the user

    /// Gives the central that has subscribed to the user.
    package mutating func handOut() -> Visit? {
        guard let visit = arrival else { return nil }
        guest?.isPresent = true
        return visit
    }

    /// The user of the guest has finished with it.
    package mutating func release(_ visit: Visit, isConnected: Bool) -> [Action] {
        guard var guest, guest.visit == visit else { return [] }
        var actions: [Action] = guest.isLost ? [] : [.end(visit)]
        guest.isLost = true
        self.guest = guest
        // A new link of the same central must not be ended.
        if !guest.hasLeft, isConnected { actions.append(.disconnect(guest.device)) }
        return actions
    }

    /// The link of a released guest is gone, or does not end.
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

    /// The service has ended.
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
            // The device may be connected to another program, so it stays connected.
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
