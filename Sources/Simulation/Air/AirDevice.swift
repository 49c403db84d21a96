package import Domain
package import Radio

/// The other side of the air: something that advertises and can be connected to.
///
/// Lives inside the `Air` and is called by it on the simulation's thread only.
package protocol AirDevice: AnyObject {
    /// Names the device in the report of a stuck run.
    var label: String { get }

    /// Whom a scan for one module means; nil when no scan can name it.
    var serial: Serial? { get }

    /// What it sends at present; nil while it is silent or out of reach.
    var broadcast: Broadcast? { get }

    var linkParameters: LinkParameters { get }

    /// Of a profile that differs from its family's generic one.
    var dress: AirDress? { get }

    /// What a central finds on it now.
    var characteristics: [Characteristic: CharacteristicFlags] { get }

    /// Whether a connection attempt succeeds now.
    func acceptsConnection() -> Bool

    /// A central has connected.
    func linkMade(_ link: AirLink)

    /// The link is gone, for whatever reason.
    func linkLost(_ link: AirLink)

    func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError>

    /// Bytes were written; what is returned for a write without response is dropped.
    func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError?

    /// A packet came by a write without response; it is a slice of what was queued.
    func streamed(_ packet: ArraySlice<UInt8>, to characteristic: Characteristic)

    func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError?

    /// How long the answer to the request that was just made is kept back; asked once for each.
    func takePause() -> AnswerPause

    /// Its side of bonds, in the program that it runs; nil when it cannot pair.
    var security: AirSecurity? { get }

    /// What became of it, as it would say itself: for those who judge what was done to it.
    var record: String? { get }
}

/// How long a device keeps an answer back.
package enum AnswerPause: Sendable, Equatable {
    case none
    case lasting(Duration)
    /// It never answers.
    case forever
}

extension AirDevice {
    package func takePause() -> AnswerPause { .none }

    package func streamed(_ packet: ArraySlice<UInt8>, to characteristic: Characteristic) {
        _ = written(Array(packet), to: characteristic)
    }
}

extension AirDevice {
    package var serial: Serial? { nil }
    package var security: AirSecurity? { nil }
    package var record: String? { nil }
}

/// An advertisement as its sender sees it.
package struct Broadcast: Sendable, Equatable {
    package var address: String
    package var name: String?
    package var manufacturerData: [UInt16: [UInt8]] = [:]
    package var services: [GATTUUID] = []
    package var interval: Duration = .milliseconds(400)
    /// As strong as it arrives, in dBm.
    package var signal = -60

    package init(address: String) { self.address = address }

    var heard: Advertisement {
        Advertisement(
            peer: Peer(handle: address),
            name: name,
            signal: signal,
            manufacturerData: manufacturerData,
            services: services
        )
    }
}
