/// The time limit of each state of a car-share session.
///
/// The manufacturer specifies only the first two. Without the others a silent vehicle would block a
/// run forever.
package struct CarShareLimits: Sendable, Equatable {
    /// After this time without a subscription, the service is published again; the time doubles
    /// with each round, so that vehicles that need longer find it.
    package var advertisement: Duration = .seconds(3)
    package var longestAdvertisement: Duration = .seconds(15)
    /// The time between two sync bytes.
    package var sync: Duration = .seconds(1)
    /// The time from the beginning until a vehicle has subscribed.
    package var arrival: Duration = .seconds(90)
    /// The time from the subscription to the end of the handshake: of 77 s, the vehicle may be
    /// silent for 5 s.
    package var handshake: Duration = .seconds(30)
    /// The time for the acknowledgement of a confirmation; after it the sync bytes begin again.
    package var acknowledgement: Duration = .seconds(5)
    /// The time for the data in which the vehicle says which one it is; older devices send none.
    package var identification: Duration = .seconds(2)
    /// The time between two pieces of one frame, in either direction.
    package var piece: Duration = .seconds(5)
    /// The time for all pieces of a message and the vehicle's acceptance.
    package var reply: Duration = .seconds(15)
    package var challenge: Duration = .seconds(10)
    /// The vehicle verifies two signatures before it answers.
    package var verdict: Duration = .seconds(15)
    /// Doors and trunks need time, and the vehicle has limits of its own.
    package var result: Duration = .seconds(60)

    package init() {}
}
