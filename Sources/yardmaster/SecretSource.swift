import Commands
import Domain
import Families
import Glibc
import Manifest
import Marked
import Radio
import Rollout

/// Fetches the secrets that a plan refers to; what it reads goes nowhere but into a key.
struct SecretSource {
    /// The longest secret is a car-share token.
    private static let limit = CarShareToken.longestText + 1

    let context: Context
    /// Who has tokens handed out; without one they are not needed.
    var tokens: TokenDesk?

    /// What opens a vehicle: its module, and its GO device when it has one.
    func access(to vehicle: PlannedVehicle) throws(CommandError) -> VehicleAccess {
        let passkey = try passkey(of: vehicle)
        let module = try opener(of: vehicle)
        guard FamilyRegistry.takesToken(vehicle.family) else {
            return VehicleAccess(
                module: module,
                carShare: try token(of: vehicle).map { TokenSupply($0) } ?? issued(to: vehicle),
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

    private func issued(to vehicle: PlannedVehicle) -> TokenSupply? {
        guard let issuer = vehicle.issuer else { return nil }
        return tokens?.supply(for: vehicle, by: issuer)
    }

    /// All that keeps a vehicle from being opened, each with the place that names it.
    func faults(of vehicle: PlannedVehicle) -> [Fault] {
        var faults: [Fault] = []
        func attempt(
            _ reference: SecretReference?,
            _ place: Place?,
            _ body: () throws(CommandError) -> Void
        ) {
            do throws(CommandError) { try body() } catch {
                faults.append(
                    Fault(error: error, place: place ?? vehicle.place, reference: reference)
                )
            }
        }
        let isToken = FamilyRegistry.takesToken(vehicle.family)
        attempt(vehicle.secret, vehicle.secretPlace) { () throws(CommandError) in
            _ = try opener(of: vehicle)
        }
        attempt(vehicle.bond.passkey, vehicle.passkeyPlace) { () throws(CommandError) in
            _ = try passkey(of: vehicle)
        }
        let isTokenSecret = isToken && vehicle.secret != nil
        attempt(
            vehicle.tokenReference,
            isTokenSecret ? vehicle.secretPlace : vehicle.tokenPlace
        ) { () throws(CommandError) in
            if let token = vehicle.tokenReference {
                _ = try self.token(token, of: vehicle)
            } else if case .url(_, let key?)? = vehicle.issuer?.way {
                _ = try read(key, of: "the token's server")
            } else if isToken, vehicle.issuer == nil {
                throw missing(vehicle)
            }
        }
        return faults
    }

    /// Why a vehicle cannot be opened.
    struct Fault {
        let error: CommandError
        let place: Place
        let reference: SecretReference?

        /// Whether it may be otherwise where the run takes place: by the service manager.
        func mayBeElsewhere(_ context: Context) -> Bool {
            switch reference {
            case .credential: context.variable("CREDENTIALS_DIRECTORY") == nil
            case .environment(let name): context.variable(name) == nil
            case .file, nil: false
            }
        }
    }

    /// One secret of a vehicle, read.
    struct Check {
        let kind: String
        /// Where it is kept, or who hands it out.
        let reference: String
        let place: Place
        var fault: CommandError?
        var token: CarShareToken?
        var isIssued = false
    }

    /// All secrets of a vehicle, each read; that none is named where one is needed, too.
    func checks(of vehicle: PlannedVehicle) -> [Check] {
        var checks: [Check] = []
        func attempt(
            _ kind: String,
            _ reference: String,
            _ place: Place?,
            _ body: () throws(CommandError) -> CarShareToken?
        ) {
            var check = Check(kind: kind, reference: reference, place: place ?? vehicle.place)
            do throws(CommandError) { check.token = try body() } catch { check.fault = error }
            checks.append(check)
        }
        let isToken = FamilyRegistry.takesToken(vehicle.family)
        if !isToken, let secret = vehicle.secret {
            attempt("key", "\(secret)", vehicle.secretPlace) { () throws(CommandError) in
                _ = try opener(of: vehicle)
                return nil
            }
        }
        if let passkey = vehicle.bond.passkey {
            attempt("passkey", "\(passkey)", vehicle.passkeyPlace) { () throws(CommandError) in
                _ = try self.passkey(of: vehicle)
                return nil
            }
        }
        if let token = vehicle.tokenReference {
            let place = isToken && vehicle.secret != nil ? vehicle.secretPlace : vehicle.tokenPlace
            attempt("token", "\(token)", place) { () throws(CommandError) in
                try self.token(token, of: vehicle).token
            }
        } else if let issuer = vehicle.issuer {
            attempt("token", issuer.title, issuer.place) { () throws(CommandError) in
                if let key = issuer.key { _ = try read(key, of: "the token's server") }
                return nil
            }
            checks[checks.count - 1].isIssued = true
        }
        if checks.isEmpty {
            attempt("key", "none", nil) { () throws(CommandError) in
                if isToken { throw missing(vehicle) }
                _ = try opener(of: vehicle)
                return nil
            }
            // Its family needs none.
            if checks[0].fault == nil { checks = [] }
        }
        return checks
    }

    private func opener(of vehicle: PlannedVehicle) throws(CommandError) -> ModuleOpener {
        let isToken = FamilyRegistry.takesToken(vehicle.family)
        let secret = try (isToken ? nil : vehicle.secret).map { (reference) throws(CommandError) in
            try read(reference, of: "vehicle \(vehicle.id)")
        }
        do throws(ModuleSecretError) {
            return try FamilyRegistry.opener(of: vehicle.family, secret)
        } catch {
            guard case .unfit(let sentence, let cause, let form) = error,
                let reference = vehicle.secret
            else { throw missing(vehicle) }
            throw CommandError(
                .configuration,
                "the secret of vehicle \(vehicle.id) \(sentence)",
                because: [cause],
                hint: "look at \(reference); it holds \(form)"
            )
        }
    }

    /// The six digits that a module is paired with.
    private func passkey(of vehicle: PlannedVehicle) throws(CommandError) -> Passkey? {
        guard let reference = vehicle.bond.passkey else { return nil }
        let secret = try read(reference, of: "vehicle \(vehicle.id)")
        guard let passkey = secret.withBytes(Self.passkey) else {
            throw CommandError(
                .configuration,
                "the passkey of vehicle \(vehicle.id) cannot be one",
                hint: "look at \(reference); it holds six digits, leading zeros included"
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
        )
    }

    /// The key of a vehicle's module.
    func key(for vehicle: PlannedVehicle) throws(CommandError) -> ComoduleKey {
        guard let reference = vehicle.secret else { throw missing(vehicle) }
        let text = try read(reference, of: "vehicle \(vehicle.id)")
        do throws(ComoduleKeyError) {
            return try ComoduleKey(text)
        } catch {
            throw CommandError(
                .configuration,
                "the secret of vehicle \(vehicle.id) is no key of a module",
                because: [error.description],
                hint: "look at \(reference); it holds hex digits"
            )
        }
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

    /// The text that a reference leads to; `owner` is said in errors.
    func read(
        _ reference: SecretReference,
        of owner: String
    ) throws(CommandError) -> Secret {
        switch reference {
        case .file(let file):
            return try read(path: file.path, of: owner)
        case .credential(let name):
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

    /// Refuses a file that others can read: it would be no secret any more.
    ///
    /// A credential is read by an access control list of the service manager's, which shows as a
    /// right of the group; its folder is closed to everybody else.
    func read(
        path: String,
        of owner: String,
        isCredential: Bool = false
    ) throws(CommandError) -> Secret {
        let sentence = "the secret of \(owner) cannot be read"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let kind: CommandError.Kind = errno == ENOENT ? .inputMissing : .configuration
            throw CommandError(
                kind,
                sentence,
                because: ["\(path): \(Descriptor.text(of: errno))"],
                hint: kind == .inputMissing
                    ? "put it there with mode 0600; `file:` is relative to the manifest" : nil
            )
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(.configuration, sentence, because: ["\(path) is no regular file"])
        }
        guard status.st_mode & (isCredential ? 0o037 : 0o077) == 0 else {
            throw CommandError(
                .configuration,
                sentence,
                because: ["\(path) can be read by other users"],
                hint: "chmod 600 \(path)"
            )
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw CommandError(
                .configuration,
                sentence,
                because: ["\(path) belongs to another user"]
            )
        }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else {
            throw CommandError(
                .configuration,
                sentence,
                because: ["\(path): \(Descriptor.text(of: errno))"]
            )
        }
        guard count < Self.limit else {
            throw CommandError(
                .configuration,
                sentence,
                because: ["\(path) is too long for a secret"]
            )
        }
        return Secret(Array(bytes[..<count]))
    }
}
