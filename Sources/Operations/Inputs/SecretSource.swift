package import Base
package import Commands
import Families
import Glibc
package import Manifest
package import Radio
package import Rollout

/// Reads the secrets that a plan refers to; they are used only as keys.
package struct SecretSource {
    /// The longest secret is a car-share token.
    private static let limit = CarShareToken.longestText + 1

    let context: Context
    private let profiles: ProfileLibrary
    /// Keeps issued tokens; nil when none are needed.
    var tokens: TokenCache?
    /// Who else names a vehicle's secret; nil where no secret is replaced.
    private let shared: SharedSecrets?

    package init(
        context: Context,
        profiles: ProfileLibrary = .shipped,
        tokens: TokenCache? = nil,
        replacing shared: SharedSecrets? = nil
    ) {
        self.context = context
        self.profiles = profiles
        self.tokens = tokens
        self.shared = shared
    }

    /// The credentials for a vehicle: for its module, and for its GO device if it has one.
    package func access(to vehicle: PlannedVehicle) throws(CommandError) -> VehicleAccess {
        if let invented = context.reach.invented { return try access(to: vehicle, invented) }
        let passkey = try passkey(of: vehicle)
        let module = try opener(of: vehicle)
        guard FamilyRegistry.takesToken(vehicle.family) else {
            return VehicleAccess(
                module: module,
                carShare: try token(of: vehicle).map { TokenSupply($0) } ?? issued(to: vehicle),
                secrets: keeper(of: vehicle),
                passkey: passkey
            )
        }
        if vehicle.tokenReference == nil, vehicle.issuer != nil {
            return VehicleAccess(
                module: module,
                carShare: issued(to: vehicle),
                passkey: passkey
            )
        }
        guard let secret = vehicle.tokenReference else { throw missing(vehicle) }
        return VehicleAccess(
            module: module,
            carShare: TokenSupply(try token(secret, of: vehicle)),
            passkey: passkey
        )
    }

    /// The same for a made-up vehicle.
    private func access(
        to vehicle: PlannedVehicle,
        _ invented: InventedSecrets
    ) throws(CommandError) -> VehicleAccess {
        let takesToken = FamilyRegistry.takesToken(vehicle.family)
        let hasDevice = takesToken || vehicle.goSerial != nil
        do {
            return VehicleAccess(
                module: try FamilyRegistry.opener(
                    of: vehicle.family,
                    takesToken ? nil : invented.key(of: vehicle)
                ),
                carShare: try (hasDevice ? invented.token(of: vehicle) : nil)
                    .map { TokenSupply(try CarShareCredentials(text: $0)) },
                passkey: vehicle.bond.passkey == nil
                    ? nil : Passkey(text: InventedSecrets.passkey)
            )
        } catch {
            throw CommandError(
                .internal,
                "the secret of \(vehicle.id) was made up wrongly: \(error)"
            )
        }
    }

    private func keeper(of vehicle: PlannedVehicle) -> FileSecret? {
        guard case .file(let file)? = vehicle.secret, let shared,
            FamilyRegistry.secrets(of: vehicle.family) != nil
        else { return nil }
        return context.reach.file(file.path).map {
            FileSecret($0, sharedWith: shared.others(than: vehicle.id, at: file.path))
        }
    }

    private func issued(to vehicle: PlannedVehicle) -> TokenSupply? {
        guard let issuer = vehicle.issuer else { return nil }
        return tokens?.supply(for: vehicle, by: issuer)
    }

    /// One secret of a vehicle, after reading it.
    package struct Check {
        let kind: String
        /// The place where it is kept, or its issuer.
        let title: String
        /// The reference that is read here; an issued secret may need none.
        let reference: SecretReference?
        let place: Place
        var fault: CommandError?
        var token: CarShareToken?
        var isIssued = false

        /// Whether a fault here may not exist where the run takes place, because there the service
        /// manager passes the secret.
        func mayBeElsewhere(_ context: Context) -> Bool {
            switch reference {
            case .credential: context.variable("CREDENTIALS_DIRECTORY") == nil
            case .environment(let name): context.variable(name) == nil
            case .file, nil: false
            }
        }
    }

    /// All secrets of a vehicle, each read; a missing secret that is needed is a fault, too.
    func checks(of vehicle: PlannedVehicle) -> [Check] {
        guard context.reach.invented == nil else { return [] }
        let isToken = FamilyRegistry.takesToken(vehicle.family)
        var checks: [Check] = []
        func attempt(
            _ kind: String,
            _ reference: SecretReference?,
            _ place: Place?,
            _ body: () throws(CommandError) -> CarShareToken?
        ) {
            var check = Check(
                kind: kind,
                title: reference.map { "\($0)" } ?? "none",
                reference: reference,
                place: place ?? vehicle.place
            )
            do throws(CommandError) { check.token = try body() } catch { check.fault = error }
            // A family without secrets has no checks.
            if reference != nil || check.fault != nil { checks.append(check) }
        }
        attempt("key", key(of: vehicle), vehicle.secretPlace) {
            () throws(CommandError) in
            _ = try opener(of: vehicle)
            return nil
        }
        attempt("passkey", vehicle.bond.passkey, vehicle.passkeyPlace) {
            () throws(CommandError) in
            _ = try passkey(of: vehicle)
            return nil
        }
        if let issuer = vehicle.issuer, vehicle.tokenReference == nil {
            var check = Check(
                kind: "token",
                title: issuer.title,
                reference: issuer.key,
                place: issuer.place,
                isIssued: true
            )
            do throws(CommandError) {
                if let key = issuer.key { _ = try read(key, of: "the token's server") }
            } catch { check.fault = error }
            checks.append(check)
        } else {
            let place = isToken && vehicle.secret != nil ? vehicle.secretPlace : vehicle.tokenPlace
            attempt("token", vehicle.tokenReference, place) { () throws(CommandError) in
                guard let reference = vehicle.tokenReference else {
                    if isToken { throw missing(vehicle) }
                    return nil
                }
                return try token(reference, of: vehicle).token
            }
        }
        return checks
    }

    private func profile(of vehicle: PlannedVehicle) -> Profile? {
        profiles.profile(vehicle.profile, of: vehicle.family)
    }

    /// What opens its module: its own secret, or else its profile's default key.
    private func key(of vehicle: PlannedVehicle) -> SecretReference? {
        guard !FamilyRegistry.takesToken(vehicle.family) else { return nil }
        return vehicle.secret ?? profile(of: vehicle)?.defaultKey
    }

    private func opener(of vehicle: PlannedVehicle) throws(CommandError) -> ModuleOpener {
        let reference = key(of: vehicle)
        let secret = try reference.map { (reference) throws(CommandError) in
            try read(reference, of: "vehicle \(vehicle.id)")
        }
        do throws(ModuleSecretError) {
            let profile = profile(of: vehicle)
            return try FamilyRegistry.opener(of: vehicle.family, secret, by: profile)
        } catch {
            guard case .unfit(let sentence, let cause, let form) = error, let reference
            else { throw missing(vehicle) }
            throw CommandError(
                .configuration,
                "the secret of vehicle \(vehicle.id) \(sentence)",
                because: [cause],
                hint: "check \(reference): it must contain \(form)"
            )
        }
    }

    /// The six digits for pairing with a module.
    private func passkey(of vehicle: PlannedVehicle) throws(CommandError) -> Passkey? {
        guard let reference = vehicle.bond.passkey else { return nil }
        return try passkey(reference, of: "vehicle \(vehicle.id)")
    }

    package func passkey(
        _ reference: SecretReference,
        of owner: String
    ) throws(CommandError) -> Passkey {
        let secret = try read(reference, of: owner)
        guard let passkey = secret.withBytes(Self.passkey) else {
            throw CommandError(
                .configuration,
                "the passkey of \(owner) cannot be one",
                hint: "check \(reference): it must contain six digits, including leading zeros"
            )
        }
        return passkey
    }

    private static func passkey(_ bytes: [UInt8]) -> Passkey? {
        let digits = bytes.drop { $0 == 0x20 }.prefix { (0x30...0x39).contains($0) }
        let rest = bytes.drop { $0 == 0x20 }.dropFirst(digits.count)
        guard rest.allSatisfy({ $0 == 0x0A || $0 == 0x0D || $0 == 0x20 }) else { return nil }
        return Passkey(text: String(decoding: digits, as: UTF8.self))
    }

    private func missing(_ vehicle: PlannedVehicle) -> CommandError {
        CommandError(
            .manifest,
            "vehicle \(vehicle.id) has no secret",
            hint: "name one in its `secret` column, as in file:keys/\(vehicle.id).key"
                + (FamilyRegistry.takesToken(vehicle.family)
                    ? ""
                    : ", or write `default-key: REFERENCE` or `authentication: none` in its profile")
        )
    }

    private func token(of vehicle: PlannedVehicle) throws(CommandError) -> CarShareCredentials? {
        try vehicle.token.map { (reference) throws(CommandError) in
            try token(reference, of: vehicle)
        }
    }

    private func token(
        _ reference: SecretReference,
        of vehicle: PlannedVehicle
    ) throws(CommandError) -> CarShareCredentials {
        let text = try read(reference, of: "vehicle \(vehicle.id)")
        do throws(CarShareCredentialsError) {
            return try CarShareCredentials(text: text)
        } catch {
            throw CommandError(
                .configuration,
                "the car-share token of vehicle \(vehicle.id) cannot be used",
                because: error.reasons,
                hint: "look at \(reference) with `yardmaster token show`"
            )
        }
    }

    /// Reads the text of a reference; `owner` is used in errors.
    package func read(
        _ reference: SecretReference,
        of owner: String
    ) throws(CommandError) -> Secret {
        switch reference {
        case .file(let file):
            return try read(path: context.reach.current(file.path), of: owner)
        case .credential(let name):
            if let copy = context.reach.current(credential: name) {
                return try read(path: copy, of: owner)
            }
            guard let directory = context.variable("CREDENTIALS_DIRECTORY") else {
                throw CommandError(
                    .configuration,
                    "\(owner) has its secret in credential:\(name)",
                    because: ["the service manager passed no credentials directory"],
                    hint: "add LoadCredential=\(name):PATH to the service"
                )
            }
            return try read(path: directory + "/" + name, of: owner, isCredential: true)
        case .environment(let name):
            guard let value = context.variable(name) else {
                throw CommandError(
                    .inputMissing,
                    "\(owner) has its secret in env:\(name)",
                    because: ["there is no such variable in the environment"]
                )
            }
            return Secret(Array(value.utf8))
        }
    }

    /// Whether a key is one of the samples that are installed with this program: these are public.
    private static func isSample(_ path: String) -> Bool {
        guard let program = ProgramFile.path, let file = realpath(path, nil) else { return false }
        defer { free(file) }
        let prefix = FilePlace.folder(of: FilePlace.folder(of: program))
        return String(cString: file).hasPrefix("\(prefix)/share/yardmaster/manifests/")
    }

    /// Reads a file, and refuses one that others can read: its content would not be secret.
    func read(
        path: String,
        of owner: String,
        isCredential: Bool = false,
        ofAnyoneForRoot: Bool = false
    ) throws(CommandError) -> Secret {
        do throws(SecretFile.Fault) {
            return try SecretFile.read(
                path,
                forbidding: isCredential
                    ? SecretFile.openCredential
                    : Self.isSample(path) ? 0o022 : SecretFile.openToOthers,
                shorterThan: Self.limit,
                ofAnyoneForRoot: ofAnyoneForRoot
            )
        } catch {
            let isMissing = error == .file(FileFault(code: ENOENT))
            throw CommandError(
                isMissing ? .inputMissing : .configuration,
                "the secret of \(owner) cannot be read",
                because: [error.sentence(of: path)],
                hint: isMissing
                    ? "put it there with mode 0600; `file:` is relative to the manifest"
                    : error == .isOpenToOthers ? "chmod 600 \(path)" : nil
            )
        }
    }
}
