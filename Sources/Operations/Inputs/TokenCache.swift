import Base
import Commands
import Families
import Images
import Manifest
import Rollout
import Synchronization

/// Gets tokens from their issuers when they are needed, and keeps each while it is valid.
///
/// They are only in memory: in no file, log, report or argument of a program.
package final class TokenCache: Sendable {
    /// The time limit of a token's issuer.
    static let patience = Duration.seconds(30)
    /// A token that ends within this time is not used, because the command itself needs time.
    static let margin = Duration.seconds(60)

    private let context: Context
    private let settings: FetchSettings
    /// Waits for programs; nil when virtual time must stand still meanwhile.
    private let runner: CheckRunner?
    private let kept = Mutex<[VehicleID: CarShareCredentials]>([:])
    private let stop: @Sendable () -> Bool

    /// For a simulated run, without a runner.
    init(
        _ context: Context,
        policy: FetchPolicy,
        runner: CheckRunner?,
        unless stop: @escaping @Sendable () -> Bool = { false }
    ) {
        self.context = context
        self.runner = runner
        self.stop = stop
        var settings = FetchSettings(policy)
        settings.redirects = 0
        self.settings = settings
    }

    func supply(for vehicle: PlannedVehicle, by issuer: TokenIssuer) -> TokenSupply {
        TokenSupply { now in await self.token(of: vehicle, from: issuer, at: now) }
    }

    private func token(
        of vehicle: PlannedVehicle,
        from issuer: TokenIssuer,
        at now: WallTime
    ) async -> Result<CarShareCredentials, TokenSupply.Fault> {
        let last = kept.withLock { $0[vehicle.id] }
        if let last, last.token.faults(at: now.advanced(by: Self.margin)).isEmpty {
            return .success(last)
        }
        let bytes: [UInt8]
        switch await answer(for: vehicle, from: issuer) {
        case .token(let found): bytes = found
        case .none(let sentence):
            return .failure(.later("\(issuer.place): no token for \(vehicle.id): \(sentence)"))
        }
        return Self.credentials(bytes, of: vehicle, from: issuer).map { found in
            kept.withLock { $0[vehicle.id] = found }
            return found
        }
    }

    private static func credentials(
        _ bytes: [UInt8],
        of vehicle: PlannedVehicle,
        from issuer: TokenIssuer
    ) -> Result<CarShareCredentials, TokenSupply.Fault> {
        let credentials: CarShareCredentials
        do throws(CarShareCredentialsError) {
            credentials = try CarShareCredentials(text: Secret(bytes))
        } catch {
            return .failure(
                .wrong(
                    "\(issuer.place): the token that was issued for \(vehicle.id) cannot be used: "
                        + error.reasons.joined(separator: "; ")
                        + "; try it with `yardmaster token show`"
                )
            )
        }
        if let fault = TokenCheck.fault(credentials.token.reservation, vehicle) {
            return .failure(.wrong("\(issuer.place): \(fault.message)"))
        }
        return .success(credentials)
    }

    // MARK: Issuers

    private func answer(
        for vehicle: PlannedVehicle,
        from issuer: TokenIssuer
    ) async -> TokenProgram.Output {
        switch issuer.way {
        case .command(let words):
            let program = TokenProgram(
                TokenIssuer.words(words, for: vehicle),
                with: [
                    "YARDMASTER_VEHICLE=\(vehicle.id)", "YARDMASTER_SERIAL=\(vehicle.serial)",
                ] + ChildProgram.note(isRehearsal: context.reach.stage != nil)
            )
            let stop = stop
            let work: @Sendable () -> TokenProgram.Output = {
                program.run(
                    within: Self.patience,
                    most: CarShareToken.longestText,
                    unless: stop
                )
            }
            guard let runner else { return work() }
            return await runner.wait(for: work)
        case .url(let text, let key):
            guard runner != nil else {
                return .none("in a simulated run no address is asked; use a program or a file")
            }
            return await ask(TokenIssuer.address(text, for: vehicle), key, vehicle)
        }
    }

    private func ask(
        _ text: String,
        _ key: SecretReference?,
        _ vehicle: PlannedVehicle
    ) async -> TokenProgram.Output {
        guard let address = WebAddress(text, allowsHTTP: false),
            let limit = ByteCount(bytes: CarShareToken.longestText)
        else { return .none("its address does not begin with https") }
        var headers = [(name: "Accept", value: "text/plain")]
        if let key {
            do throws(CommandError) {
                let secret = try SecretSource(context: context).read(key, of: "the token's server")
                headers.append(("Authorization", "Bearer \(try Self.line(secret, key))"))
            } catch { return .none(([error.sentence] + error.causes).joined(separator: ": ")) }
        }
        let result = await WebQuery(to: address, headers: headers).ask(
            limit: limit,
            within: Self.patience,
            at: RealTime().wallTime,
            settings: settings
        )
        switch result {
        case .success(let bytes): return .token(bytes)
        // Only the host: a person who knows the address could request tokens.
        case .failure(let error): return .none("\(address.host): \(error)")
        }
    }

    /// The text of a secret for a header.
    private static func line(
        _ secret: Secret,
        _ reference: SecretReference
    ) throws(CommandError) -> String {
        let text = secret.withBytes { bytes in
            String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw CommandError(.configuration, "\(reference) contains no text that can be sent")
        }
        return text
    }
}
