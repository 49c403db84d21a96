import Base
import Families

/// Reads any bytes as a token, as the protobuf message in one, and as a reservation.
func fuzzToken(_ bytes: [UInt8]) {
    judge(bytes)
    judge(Array(Base64.text(bytes).utf8))
    if let reservation = try? CarShareReservation(bytes) {
        let again = try? CarShareReservation(reservation.serialized)
        // NaN is not equal to itself.
        precondition(again?.permissions == reservation.permissions)
        precondition(again?.start == reservation.start && again?.end == reservation.end)
    }
    if let decoded = Base64.bytes(bytes) {
        precondition(Base64.text(decoded).utf8.elementsEqual(bytes))
    }
}

private func judge(_ text: [UInt8]) {
    guard let token = try? CarShareToken(text: Secret(text)) else { return }
    let faults = CarShareCredentials.faults(of: token)
    for fault in faults { precondition(!fault.description.isEmpty) }
    _ = token.faults(at: WallTime(milliseconds: 1_767_650_400_000))
    // A token without a fault can sign.
    guard faults.allSatisfy(\.isWarning) else { return }
    guard let credentials = try? CarShareCredentials(text: Secret(text)),
        let challenge = CarShareChallenge([UInt8](repeating: 1, count: 32))
    else { preconditionFailure("a token without a fault is refused") }
    _ = credentials.message(CarShareCommands(.lock), challenge)
}
