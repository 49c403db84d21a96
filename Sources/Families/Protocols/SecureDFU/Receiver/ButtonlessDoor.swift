package import Base
package import Radio

/// Makes an application start its Secure DFU bootloader, over one link.
package struct ButtonlessDoor {
    private let link: any Link
    private let time: any Timekeeper

    package init(link: any Link, time: any Timekeeper) {
        self.link = link
        self.time = time
    }

    /// Whether the module uses the form of entry for bonded centrals.
    package var isBonded: Bool { link.flags(of: DFUNumbers.buttonless) == nil }

    /// The address of the bootloader: a bonded module keeps its address; any other adds 1 to its
    /// last byte, without a carry.
    package var place: Peer? { isBonded ? link.peer : link.peer.next }

    /// Starts the bootloader under this name, if the module supports names; the module then ends
    /// the link.
    package func enter(as name: BootloaderName?) async throws(ModuleError) {
        let isBonded = isBonded
        let buttonless = isBonded ? DFUNumbers.buttonlessBonded : DFUNumbers.buttonless
        // The form for bonded centrals supports no names and keeps the address instead.
        var machine = ButtonlessEntry(name: isBonded ? nil : name, mayGoUnnamed: true)
        var indications: (any Subscription)?
        var action = machine.begin(at: time.now)
        while true {
            let deadline = machine.deadline ?? time.now
            do throws(RadioError) {
                switch action {
                case .subscribe:
                    indications = try await link.subscribe(to: buttonless, before: deadline)
                    action = machine.subscribed(at: time.now)
                case .write(let request):
                    try await link.write(request.bytes, to: buttonless, before: deadline)
                    action = .wait
                case .wait:
                    guard let indications else { throw .timedOut }
                    let bytes = try await indications.next(before: deadline)
                    action = machine.indicated(bytes, at: time.now)
                case .entered, .failed:
                    break
                }
            } catch {
                if error.isOurs { throw .radio(error) }
                action =
                    error == .timedOut
                    ? machine.timeout(at: max(time.now, deadline))
                    : machine.linkFailed(error.linkFailure, at: time.now)
            }
            if case .entered = action { return }
            if case .failed(let error) = action { throw .entry(error) }
        }
    }
}

extension Peer {
    /// The address with 1 added to its last byte, without a carry; nil when this is not an address.
    package var next: Peer? {
        guard let colon = handle.lastIndex(of: ":"),
            let last = UInt8(handle[handle.index(after: colon)...], radix: 16)
        else { return nil }
        return Peer(handle: handle[...colon] + Hex.text([last &+ 1]).uppercased())
    }
}
