/// How long each state of a car-share session may last.
///
/// The maker has none of these but the first two: without them a silent vehicle holds a run for
/// ever.
package struct CarShareLimits: Sendable, Equatable {
    /// Advertised so long without a subscription, the service is put up again.
    package var advertisement: Duration = .seconds(3)
    /// Between two sync bytes.
    package var sync: Duration = .seconds(1)
    /// From the beginning until a vehicle has subscribed.
    package var arrival: Duration = .seconds(90)
    /// From the subscription until the handshake is done: the vehicle may pause for 5 s in 77.
    package var handshake: Duration = .seconds(30)
    /// A confirmation without acknowledgement: then the sync bytes begin again.
    package var acknowledgement: Duration = .seconds(5)
    /// Between two pieces of one frame, either way.
    package var piece: Duration = .seconds(5)
    /// For all pieces of a message and the vehicle's word that it took it.
    package var reply: Duration = .seconds(15)
    package var challenge: Duration = .seconds(10)
    /// The vehicle verifies two signatures before it answers.
    package var verdict: Duration = .seconds(15)
    /// Doors and trunks take their time, and the vehicle has limits of its own.
    package var result: Duration = .seconds(60)

    package init() {}
}
