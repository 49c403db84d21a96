package import Domain

/// Why a token that can be read would be refused, by us or by the vehicle.
package enum CarShareTokenFault: Error, Hashable, Sendable {
    case service
    case privateKeyText
    /// The key's bytes are no RSA key.
    case privateKey
    /// Bits of the modulus.
    case keySize(Int)
    case exponent
    /// The hash that names the key is not that of the key.
    case reservationHash
    case tenantHashLength(Int)
    /// The key in the reservation is another one than the private key.
    case otherKey
    case signatureLength(Int, expected: Int)
    /// The body that a command would have, beyond what a frame holds.
    case size(Int, limit: Int)
    case noReservation
    case noHardware
    /// Hardware ids have 32 bits.
    case hardwareID(UInt64)
    /// The service is not the one that the hardware id leads to.
    case serviceOfOtherHardware
    case startTime(UInt64)
    case endTime(UInt64)
    case keyExpiry(UInt64)
    case endsBeforeStart
    case mixedUnits
    case notYet(from: WallTime, now: WallTime)
    case expired(at: WallTime, now: WallTime)

    /// Whether the token is only unusual: it is told, and the vehicle decides.
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
        case .exponent: "its private key has another public exponent than 65537"
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
        case .startTime(let number): "its start time \(number) is none"
        case .endTime(let number): "its end time \(number) is none"
        case .keyExpiry(let number): "its key expiry \(number) is no time"
        case .endsBeforeStart: "its reservation ends before it begins"
        case .mixedUnits: "some of its times are in seconds and some in milliseconds"
        case .notYet(let from, let now):
            "its reservation begins at \(from), and the clock here says \(now)"
        case .expired(let at, let now):
            "its reservation ended at \(at), and the clock here says \(now)"
        }
    }
}

extension CarShareToken {
    /// What is wrong with it without a look at its key.
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

    /// Whether it holds at this time, by the clock here.
    package func faults(at now: WallTime) -> [CarShareTokenFault] {
        if let start, now < start.wallTime { return [.notYet(from: start.wallTime, now: now)] }
        if let last = lastMoment, last < now { return [.expired(at: last, now: now)] }
        return []
    }

    /// The size of the message that carries a command with it.
    package func bodyLength(signature: Int, command: Int) -> Int {
        1
            + CarShareDeviceMessage.length(
                signatures: reservationSignature.count + signature,
                reservation: reservationBytes.count,
                command: command
            )
    }
}
