package import Base
package import Radio

/// The other side of the air: something that advertises and can be connected to.
///
/// It belongs to the `Air`, which calls it on the simulation's thread only.
package protocol AirDevice: AnyObject {
    /// Names the device in the report of a stuck run.
    var label: String { get }

    /// The serial by which a scan for one module finds it; nil when no scan can name it.
    var serial: Serial? { get }

    /// The advertisement that it sends now; nil while it is silent or out of reach.
    var broadcast: Broadcast? { get }

    var linkParameters: LinkParameters { get }

    /// The advertisement and characteristics of its profile, when that differs from its family's
    /// generic one.
    var dress: AirDress? { get }

    /// The characteristics that a central finds on it now.
    var characteristics: [Characteristic: CharacteristicFlags] { get }

    /// Whether a connection attempt succeeds now.
    func acceptsConnection() -> Bool

    /// A central has connected.
    func linkMade(_ link: AirLink)

    /// The link is gone, for whatever reason.
    func linkLost(_ link: AirLink)

    func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError>

    /// Bytes were written; for a write without response, the returned error is ignored.
    func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError?

    /// A packet arrived in a write without response; it is a slice of the bytes that were queued.
    func streamed(_ packet: ArraySlice<UInt8>, to characteristic: Characteristic)

    func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError?

    /// How long the answer to the last request is delayed; called once for each request.
    func takePause() -> AnswerPause

    /// Its side of bonds, in the program that it runs now; nil when it cannot pair.
    var security: AirSecurity? { get }

    /// Its own account of what was done to it, for those who judge that.
    var record: String? { get }
}

/// How long a device delays an answer.
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

/// An advertisement, with the values that its sender chooses.
package struct Broadcast: Sendable, Equatable {
    package var address: String
    package var name: String?
    package var manufacturerData: [UInt16: [UInt8]] = [:]
    package var services: [GATTUUID] = []
    package var interval: Duration = .milliseconds(400)
    /// The signal strength at the receiver, in dBm.
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
