import Domain
import Modules
import Radio

/// One link to one module of any family, from the first byte of the handshake to the last one of
/// the link.
protocol ModuleSession: AnyObject, Sendable {
    var name: ModuleName { get }
    var profile: Profile { get }
    /// The versions that the handshake found; nil in a family whose modules do not report them.
    var versions: ModuleVersions? { get }
    /// The readings of the handshake.
    var readings: [PropertyReading] { get }
    /// Registers that the module does not have.
    var lacking: Set<UInt16> { get }
    /// The properties that its profile has for modules of its variant, in the profile's order.
    var specs: [PropertySpec] { get }

    func property(_ name: String) -> PropertySpec?

    func read(_ name: String) async throws(PropertyReadError) -> PropertyValue

    func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue

    func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError)

    /// The next values that the module sends unasked; may return early and empty.
    ///
    /// With `asking`, it is asked whether it hands an image on. `watched` are properties that
    /// the caller follows: a module that notifies no changes is asked for them.
    func news(
        before moment: Moment,
        asking: Bool,
        watched: [String]
    ) async throws(ModuleError) -> SessionNews

    /// The versions that it runs now.
    func currentVersions(_ known: CachedModule?) async throws(ModuleError) -> ModuleVersions?

    /// Waits for a sign of the module, until `moment` at the latest.
    func pause(until moment: Moment) async throws(ModuleError)

    /// The same link after the module started other versions.
    func running(_ versions: ModuleVersions?) -> any ModuleSession

    /// Gives the module another key, which is valid from now on.
    func changeKey(to secret: Secret) async throws(ModuleError)

    func disconnect() async
}

/// Values that a module sends unasked.
struct SessionNews: Sendable {
    var changes: [PropertyReading] = []
    /// Nil when it reports nothing about that.
    var isHandingOn: Bool?
}

extension ModuleSession {
    /// The properties at the beginning of the session.
    var listing: PropertyList.Listing {
        let known = Set(readings.map(\.name))
        return PropertyList.Listing(
            readable: readings,
            writeOnly: specs.filter { !$0.access.isReadable },
            missing: specs.filter { $0.access.isReadable && !known.contains($0.name) }
        )
    }
}

/// Makes sessions with the modules of one profile, after the secret was read and checked.
struct SessionOpener: Sendable {
    let open:
        @Sendable (any Link, ModuleName, CachedModule?, any Timekeeper) async ->
            Result<any ModuleSession, AttemptFailure>
}

extension FamilyRegistry {
    /// The family's own way to make sessions; without one, sessions use its driver.
    static func sessions(
        of profile: Profile,
        _ secret: Secret?
    ) throws(ConnectError) -> SessionOpener {
        guard let entry = entry(of: profile.family), entry.shape.isHeard else {
            throw .looksForUs(profile.family)
        }
        if let sessions = entry.sessions { return try sessions(profile, secret) }
        let driver: any UpdateDriver
        do throws(ModuleSecretError) {
            driver = try entry.opener(secret).driver(profile)
        } catch {
            switch error {
            case .missing: throw .secretMissing(profile.family)
            case .unfit(let sentence, let cause, let form):
                throw .secretUnfit("the secret \(sentence): \(cause)", form: form)
            }
        }
        return SessionOpener { link, name, _, time in
            await FamilySession.opened(by: driver, profile, link, name, time)
        }
    }
}
