package import Base

/// What an update needs from its caller: the link to the module, waiting, and notes.
///
/// The engine leaves these decisions to the environment and holds no link itself: the owner of a
/// module's link owns it during the update too.
package protocol UpdateEnvironment: AnyObject {
    /// What ends an update from outside its session.
    associatedtype Halt: Error

    var time: any Timekeeper { get }

    /// Whether the update must end at the next safe point.
    var isStopped: @Sendable () -> Bool { get }

    // MARK: Links

    /// The owner of the link to the module.
    var link: VehicleLink { get }

    /// Listens for the module in either role; nil when it was not heard in time.
    func seek(before deadline: Moment) async throws(Halt) -> ModuleSighting?

    func connect(to sighting: ModuleSighting) async throws(RadioError)

    /// Opens the application on the link that was just made.
    func openApplication() async throws(ModuleError)

    /// Opens the bootloader on that link.
    func openBootloader() async throws(ModuleError)

    /// Waits while there is no link.
    func rest(
        until moment: Moment,
        _ session: UpdateSession,
        for purpose: String
    ) async throws(Halt)

    // MARK: Faults

    /// The reason to end the update after a fault of this host's radio.
    func halt(after fault: RadioError) -> Halt

    /// Judges why the module could not be opened: returns a fault for the session, or throws to end
    /// the update.
    func refusal(_ error: ModuleError) throws(Halt) -> UpdateFault

    // MARK: Observations

    /// Called before the module restarts into another program.
    func checkAgain() async throws(Halt)

    /// The identity and versions that the module reported.
    func inspected(_ found: Inspection)

    func observed(_ seen: Observation)

    /// Whether the module is healthy with its new image; the time for that ends at `deadline`.
    func health(
        on application: any ModuleApplication,
        before deadline: Moment?
    ) async throws(ModuleError) -> UpdateSession.Health

    /// A part of the image, or the rest of one, is about to be sent.
    func begins(_ part: Int)

    /// `count` bytes of the part were given to the radio, including repeated ones.
    func sent(_ count: Int)

    // MARK: Notes

    /// Called before each action: `session.memory` must outlive the process.
    func keep(_ session: UpdateSession) async throws(Halt)

    /// The module has received more of the part.
    func progressed(
        _ heard: UploadProgress,
        _ session: UpdateSession
    ) async throws(Halt)

    /// The last call of the update.
    func close(_ ending: UpdateEnding, _ session: UpdateSession) async throws(Halt)
}
