package import Base

/// What an update needs from the owner of the module's link, who owns it during the update too:
/// the clock, the link, and what to do while there is none.
package protocol UpdateOwner: AnyObject {
    /// What ends an update from outside its session.
    associatedtype Halt: Error

    var time: any Timekeeper { get }

    /// Whether the update must end at the next safe point.
    var isStopped: @Sendable () -> Bool { get }

    // MARK: Links

    var link: VehicleLink { get }

    /// How the module is opened.
    var driver: any UpdateDriver { get }

    /// Listens for the module in either role; nil when it was not heard in time.
    func seek(before deadline: Moment) async throws(Halt) -> ModuleSighting?

    func connect(to sighting: ModuleSighting) async throws(RadioError)

    /// Opens the application on the link that was just made.
    func openApplication() async throws(ModuleError)

    /// Waits while there is no link.
    func rest(
        until moment: Moment,
        _ memory: UpdateMemory,
        for purpose: String
    ) async throws(Halt)

    // MARK: Faults

    /// The reason to end the update after a fault of this host's radio.
    func halt(after fault: RadioError) -> Halt

    /// Judges why the module could not be opened: returns a fault for the session, or throws to end
    /// the update.
    func refusal(_ error: ModuleError) throws(Halt) -> UpdateFault

    // MARK: Observations

    /// The identity and versions that the module reported.
    func inspected(_ found: Inspection, of target: ModulePart)

    func observed(_ seen: Observation)

    /// `count` bytes of the image were given to the radio, including repeated ones.
    func sent(_ count: Int)
}
