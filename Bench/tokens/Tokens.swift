import Base
import Families
import Glibc
import Simulation

/// Issues tokens for simulated vehicles: `tokens TENANT.der RESERVATION.der HARDWARE COUNT FOLDER`.
///
/// Makes COUNT tokens, from hardware id HARDWARE on, each in `FOLDER/HARDWARE.token`; the tenant's
/// modulus, which devices store, is printed in hex.
@main
enum Tokens {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let first = UInt32(arguments[3]),
            let count = UInt32(arguments[4]), count > 0, count < 10_000,
            let issuer = GOTokenIssuer(
                tenant: contents(arguments[1]),
                reservation: contents(arguments[2])
            )
        else {
            print("usage: tokens TENANT.der RESERVATION.der HARDWARE COUNT FOLDER")
            exit(64)
        }
        let start = Simulation.firstEvening
        for hardware in first..<(first + count) {
            let reservation = issuer.reservation(
                hardwareID: hardware,
                from: start.advanced(by: .seconds(-60)),
                until: start.advanced(by: .seconds(86_400 * 365))
            )
            guard let token = issuer.token(reservation) else {
                print("the tenant's key cannot sign")
                exit(1)
            }
            let path = "\(arguments[5])/\(hardware).token"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            let whole = token.withBytes { write(descriptor, $0, $0.count) == $0.count }
            guard descriptor >= 0, whole, close(descriptor) == 0 else {
                print("\(path) cannot be written")
                exit(74)
            }
        }
        print(Hex.text(issuer.modulus))
    }

    private static func contents(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
