package import Domain
package import Radio
package import Sessions

/// What an update needs of anyone who runs it: the links to the module, waiting, and notes.
///
/// The engine decides nothing that an environment is asked for, and holds no link itself: anyone who owns the
/// links of a module owns them during its update, too.
package protocol UpdateEnvironment: AnyObject {
    /// What ends an update from outside of its session.
    associatedtype Halt: Error

    var time: any Timekeeper { get }

    /// Whether the update is to end at the next safe point.
    var isStopped: @Sendable () -> Bool { get }

    // MARK: Links

    /// The owner of the link to the module.
    var link: VehicleLink { get }

    /// Listens for the module in either role; nil when it was not heard in time.
    func seek(before deadline: Moment) async throws(Halt) -> ModuleSighting?

    func connect(to sighting: ModuleSighting) async throws(RadioError)

    /// Opens the application at the other end of the link that was just made.
    func openApplication() async throws(ModuleError)

    /// Opens the bootloader there.
    func openBootloader() async throws(ModuleError)

    /// Waits while there is no link.
    func rest(
        until moment: Moment,
        _ session: UpdateSession,
        for purpose: String
    ) async throws(Halt)

    // MARK: Faults

    /// The radio of this host does not work.
    func halt(after fault: RadioError) -> Halt

    /// The module does not let itself be opened: a fault that the session weighs, or the end.
    func refusal(_ error: ModuleError) throws(Halt) -> UpdateFault

    // MARK: What is seen

    /// Asked before the module restarts into something else.
    func checkAgain() async throws(Halt)

    /// What the module said it is and runs.
    func inspected(_ found: Inspection)

    func observed(_ seen: Observation)

    /// Whether the module is well with its new image; the time for that ends at `deadline`.
    func health(
        on application: any ModuleApplication,
        before deadline: Moment?
    ) async throws(ModuleError) -> UpdateSession.Health

    /// A part of the image is going to be sent, or the rest of one.
    func begins(_ part: Int)

    /// So many bytes of it were given to the radio, repeats included.
    func sent(_ count: Int)

    // MARK: Notes

    /// Called before each action: `session.memory` is what must outlive the process.
    func keep(_ session: UpdateSession) async throws(Halt)

    /// The module has more of the part.
    func progressed(
        _ heard: UploadProgress,
        _ session: UpdateSession
    ) async throws(Halt)

    /// The last call.
    func close(_ ending: UpdateEnding, _ session: UpdateSession) async throws(Halt)
}
