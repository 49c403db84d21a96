import Domain
import Modules
import Radio

/// One link to one module of any family, from the first byte of the handshake to the last.
protocol ModuleSession: AnyObject, Sendable {
    var name: ModuleName { get }
    var profile: Profile { get }
    /// What the handshake found that it runs; nil in a family whose modules do not say.
    var versions: ModuleVersions? { get }
    /// What was read in the handshake.
    var readings: [PropertyReading] { get }
    /// Registers that the module does not have.
    var lacking: Set<UInt16> { get }
    /// What its profile has for modules of its variant, in that order.
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

    /// What the module says next by itself; may return early and empty.
    ///
    /// With `asking`, it is asked whether it hands an image on. `watched` are properties that somebody follows: a
    /// module that tells of no changes is asked for them.
    func news(
        before moment: Moment,
        asking: Bool,
        watched: [String]
    ) async throws(ModuleError) -> SessionNews

    /// What it runs now.
    func currentVersions(_ known: CachedModule?) async throws(ModuleError) -> ModuleVersions?

    /// Waits for a sign of the module, and for no longer than that.
    func pause(until moment: Moment) async throws(ModuleError)

    /// The same link once the module runs something else.
    func running(_ versions: ModuleVersions?) -> any ModuleSession

    /// Gives the module another key, which holds from now on.
    func changeKey(to secret: Secret) async throws(ModuleError)

    func disconnect() async
}

/// What a module says by itself.
struct SessionNews: Sendable {
    var changes: [PropertyReading] = []
    /// Nil where it says nothing about that.
    var isHandingOn: Bool?
}

extension ModuleSession {
    /// What the properties are to begin with.
    var listing: PropertyList.Listing {
        let known = Set(readings.map(\.name))
        return PropertyList.Listing(
            readable: readings,
            writeOnly: specs.filter { !$0.access.isReadable },
            missing: specs.filter { $0.access.isReadable && !known.contains($0.name) }
        )
    }
}

/// What makes sessions with the modules of one profile, once the secret was read and understood.
struct SessionOpener: Sendable {
    let open:
        @Sendable (any Link, ModuleName, CachedModule?, any Timekeeper) async ->
            Result<any ModuleSession, AttemptFailure>
}

extension FamilyRegistry {
    /// A family's own way, or else by its driver.
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
