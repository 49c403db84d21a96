package import Base

/// Why we or the vehicle would refuse a readable token.
package enum CarShareTokenFault: Error, Hashable, Sendable {
    case service
    case privateKeyText
    /// The key's bytes are not an RSA key.
    case privateKey
    /// The size of the modulus in bits.
    case keySize(Int)
    case exponent
    /// The hash that names the key is not the hash of the key.
    case reservationHash
    case tenantHashLength(Int)
    /// The reservation was made for a key other than the private key in the token.
    case otherKey
    case signatureLength(Int, expected: Int)
    /// The length of the body of a command, when it is more than a frame holds.
    case size(Int, limit: Int)
    case noReservation
    case noHardware
    /// Hardware ids have 32 bits.
    case hardwareID(UInt64)
    /// The service is not the one that results from the hardware id.
    case serviceOfOtherHardware
    case startTime(UInt64)
    case endTime(UInt64)
    case keyExpiry(UInt64)
    case endsBeforeStart
    case mixedUnits
    case notYet(from: WallTime, now: WallTime)
    case expired(at: WallTime, now: WallTime)

    /// Whether the token is only unusual: then we report it, and the vehicle decides.
    package var isWarning: Bool {
        switch self {
        case .serviceOfOtherHardware, .mixedUnits: true
        case .service, .privateKeyText, .privateKey, .keySize, .exponent, .reservationHash,
            .tenantHashLength, .otherKey, .signatureLength, .size, .noReservation, .noHardware,
            .hardwareID, .startTime, .endTime, .keyExpiry, .endsBeforeStart, .notYet, .expired:
            false
        }
    }
}

extension CarShareTokenFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .service: "its service is no UUID of 36 characters"
        case .privateKeyText: "its private key is not base64"
        case .privateKey: "its private key is no RSA key in PKCS#1 form"
        case .keySize(let bits): "its private key has \(bits) bits; 2048 are needed"
        case .exponent: "its private key has a public exponent other than 65537"
        case .reservationHash: "its reservation modulus hash is not that of its private key"
        case .tenantHashLength(let count): "its tenant modulus hash has \(count) bytes, not 32"
        case .otherKey: "its reservation was made for another key than the one in the token"
        case .signatureLength(let count, let expected):
            "its reservation signature has \(count) bytes, not \(expected)"
        case .size(let size, let limit):
            "a command with it has \(size) bytes, and a message holds \(limit)"
        case .noReservation: "it holds no reservation"
        case .noHardware: "its reservation names no vehicle"
        case .hardwareID(let id): "its hardware id \(id) has more than 32 bits"
        case .serviceOfOtherHardware:
            "its service is not the one that its hardware id leads to"
        case .startTime(let number): "its start time \(number) is not a valid time"
        case .endTime(let number): "its end time \(number) is not a valid time"
        case .keyExpiry(let number): "its key expiry \(number) is not a valid time"
        case .endsBeforeStart: "its reservation ends before it begins"
        case .mixedUnits: "some of its times are in seconds and some in milliseconds"
        case .notYet(let from, let now):
            "its reservation begins at \(from), and this machine's clock shows \(now)"
        case .expired(let at, let now):
            "its reservation ended at \(at), and this machine's clock shows \(now)"
        }
    }
}

extension CarShareToken {
    /// The faults that can be found without the key.
    package var shapeFaults: [CarShareTokenFault] {
        var faults: [CarShareTokenFault] = []
        if service == nil { faults.append(.service) }
        if privateKey == nil { faults.append(.privateKeyText) }
        if tenantHash.count != 32 { faults.append(.tenantHashLength(tenantHash.count)) }
        guard !reservationBytes.isEmpty else { return faults + [.noReservation] }
        if reservation.hardwareID == 0 { faults.append(.noHardware) }
        if reservation.hardwareID > UInt64(UInt32.max) {
            faults.append(.hardwareID(reservation.hardwareID))
        }
        return faults + timeFaults
    }

    private var timeFaults: [CarShareTokenFault] {
        var faults: [CarShareTokenFault] = []
        if start == nil { faults.append(.startTime(reservation.start)) }
        if end == nil { faults.append(.endTime(reservation.end)) }
        if keyExpiry == nil, reservation.keyExpiry != 0 {
            faults.append(.keyExpiry(reservation.keyExpiry))
        }
        guard let start, let end else { return faults }
        if end.wallTime < start.wallTime { faults.append(.endsBeforeStart) }
        let units = Set([start.unit, end.unit] + (keyExpiry.map { [$0.unit] } ?? []))
        if units.count > 1 { faults.append(.mixedUnits) }
        return faults
    }

    /// The faults of its times, according to the clock of this machine.
    package func faults(at now: WallTime) -> [CarShareTokenFault] {
        if let start, now < start.wallTime { return [.notYet(from: start.wallTime, now: now)] }
        if let last = lastMoment, last < now { return [.expired(at: last, now: now)] }
        return []
    }

    /// The length of the message that carries a command with this token.
    package func bodyLength(signature: Int, command: Int) -> Int {
        1
            + CarShareDeviceMessage.length(
                signatures: reservationSignature.count + signature,
                reservation: reservationBytes.count,
                command: command
            )
    }
}
