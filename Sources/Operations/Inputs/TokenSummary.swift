package import Base
package import Commands
import Families
import Manifest

/// The content of a car-share token, without its key.
package struct TokenSummary {
    private let token: CarShareToken
    private let refusals: [CarShareTokenFault]
    private let warnings: [CarShareTokenFault]

    /// Reads the token from `source`: a reference to a secret, or a path.
    package init(of source: String, _ context: Context) throws(CommandError) {
        token = try Self.token(source, context)
        let found = CarShareCredentials.faults(of: token) + token.faults(at: RealTime().wallTime)
        refusals = found.filter { !$0.isWarning }
        warnings = found.filter(\.isWarning)
    }

    private static func token(
        _ source: String,
        _ context: Context
    ) throws(CommandError) -> CarShareToken {
        let secret = try secret(source, context)
        do throws(CarShareTokenError) {
            return try CarShareToken(text: secret)
        } catch {
            throw CommandError(
                .configuration,
                "\(source) is no car-share token",
                because: [error.description],
                hint: "a token is one line of base64, as the booking system issues it"
            )
        }
    }

    private static func secret(
        _ source: String,
        _ context: Context
    ) throws(CommandError) -> Secret {
        let secrets = SecretSource(context: context)
        let words = ["file:", "credential:", "env:"]
        guard words.contains(where: { source.hasPrefix($0) }) else {
            return try secrets.read(path: source, of: "the token")
        }
        let reference: SecretReference
        do throws(SecretReference.ParseError) {
            reference = try SecretReference(source, relativeTo: ".")
        } catch {
            throw CommandError(
                .usage,
                "the reference to the token is not valid",
                hint: "write file:PATH, credential:NAME, env:NAME or just a path"
            )
        }
        return try secrets.read(reference, of: "the token")
    }

    package var exitCode: ExitCode { refusals.isEmpty ? .done : .configuration }

    private var reservation: CarShareReservation { token.reservation }

    private func time(_ time: CarShareTime?) -> String { time?.description ?? "none" }

    // MARK: For people

    package var text: String {
        let permissions = CarSharePermission.words(of: reservation.permissions)
        var rows = [
            ("reservation", reservation.reservationID),
            ("account", reservation.accountID),
            ("hardware id", String(reservation.hardwareID)),
            ("serial", reservation.serial),
            ("service", token.service?.description ?? token.serviceText),
            ("from", time(token.start)),
            ("to", time(token.end)),
            ("grace", Duration.seconds(Int64(reservation.graceSeconds)).brief),
            ("key until", time(token.keyExpiry)),
            ("permits", permissions.joined(separator: " ")),
        ]
        rows += refusals.map { ("REFUSED", $0.description) }
        rows += warnings.map { ("unusual", $0.description) }
        if refusals.isEmpty { rows.append(("good", "it would be taken now")) }
        return rows.map { name, value in
            let padding = String(repeating: " ", count: 12 - name.utf8.count)
            return "\(name)\(padding)\(value.isEmpty ? "none" : value.visible)\n"
        }.joined()
    }

    // MARK: For programs

    package var document: JSONValue {
        .object([
            "schema": 1,
            "reservation": .string(reservation.reservationID),
            "account": .string(reservation.accountID),
            "hardware-id": .string(String(reservation.hardwareID)),
            "serial": .string(reservation.serial),
            "service": token.service.map { .string($0.description) },
            "from": token.start.map { .string($0.description) },
            "to": token.end.map { .string($0.description) },
            "grace-seconds": .integer(Int64(reservation.graceSeconds)),
            "key-until": token.keyExpiry.map { .string($0.description) },
            "permits": .array(
                CarSharePermission.words(of: reservation.permissions).map { .string($0) }
            ),
            "good": .bool(refusals.isEmpty),
            "refused-because": .array(refusals.map { .string($0.description) }),
            "unusual": .array(warnings.map { .string($0.description) }),
            "exit": exitCode.json,
        ])
    }
}
