package import Base
package import Radio

/// A checked token with its key: commands are signed with it.
package struct CarShareCredentials: Sendable {
    private static let bodyLimit = AddOnType.messageToVehicle.bodyLengths.upperBound

    package let token: CarShareToken
    /// Unusual facts about the token; the vehicle decides whether it accepts them.
    package let warnings: [CarShareTokenFault]
    package let service: GATTUUID
    /// The characteristics: we notify on the first, the vehicle writes to the second.
    package private(set) var notify = AddOnNumbers.notify
    package private(set) var write = AddOnNumbers.write
    /// How long each state of a session may last.
    package private(set) var limits = CarShareLimits()
    /// With what a command succeeds.
    package private(set) var success = CommandSuccess.result
    private let key: RSAPrivateKey

    /// Reads a token; throws when no vehicle could accept it.
    package init(text: Secret) throws(CarShareCredentialsError) {
        let token: CarShareToken
        do throws(CarShareTokenError) {
            token = try CarShareToken(text: text)
        } catch { throw .unreadable(error) }
        let key = Self.key(of: token)
        let faults = Self.faults(of: token, key)
        let refusals = faults.filter { !$0.isWarning }
        guard refusals.isEmpty, let key, let service = token.service else {
            throw .refused(refusals)
        }
        self.token = token
        self.key = key
        self.service = service
        warnings = faults.filter(\.isWarning)
    }

    /// The same credentials with the characteristics, the times and the success that a vehicle's
    /// profile names.
    package func speaking(by profile: Profile) -> CarShareCredentials {
        var other = self
        other.notify = profile.gatt.uuid(.notify) ?? notify
        other.write = profile.gatt.uuid(.write) ?? write
        other.limits = .named(by: profile.times)
        other.success = profile.success
        return other
    }

    private static func key(of token: CarShareToken) -> RSAPrivateKey? {
        token.privateKey?.withBytes { RSAPrivateKey(pkcs1: $0) }
    }

    /// All faults and unusual facts of a token, except its time.
    package static func faults(of token: CarShareToken) -> [CarShareTokenFault] {
        faults(of: token, key(of: token))
    }

    private static func faults(
        of token: CarShareToken,
        _ key: RSAPrivateKey?
    ) -> [CarShareTokenFault] {
        var faults = token.shapeFaults
        if let id = UInt32(exactly: token.reservation.hardwareID), id != 0,
            let service = token.service,
            service != AddOnNumbers.service(ofHardware: id, sha256: SHA256.digest)
        {
            faults.append(.serviceOfOtherHardware)
        }
        guard let key else {
            return token.privateKey == nil ? faults : faults + [.privateKey]
        }
        guard key.bits == 2_048 else { return faults + [.keySize(key.bits)] }
        if !key.isCommonExponent { faults.append(.exponent) }
        if SHA256.digest(of: key.modulus).bytes != token.reservationHash {
            faults.append(.reservationHash)
        }
        if !token.reservationBytes.isEmpty, token.reservation.modulus != key.modulus {
            faults.append(.otherKey)
        }
        let signature = key.bits / 8
        if token.reservationSignature.count != signature {
            let count = token.reservationSignature.count
            faults.append(.signatureLength(count, expected: signature))
        }
        let size = token.bodyLength(
            signature: signature,
            command: CarShareCommands(.lock).bytes.count
        )
        if size > bodyLimit { faults.append(.size(size, limit: bodyLimit)) }
        return faults
    }

    /// The message with the signed command; nil when the key cannot sign.
    package func message(
        _ commands: CarShareCommands,
        _ challenge: CarShareChallenge
    ) -> [UInt8]? {
        let command = commands.bytes
        guard let signature = key.signature(of: command + challenge.bytes) else { return nil }
        return CarShareDeviceMessage(
            tenantHash: token.tenantHash,
            reservationSignature: token.reservationSignature,
            reservation: token.reservationBytes,
            reservationHash: token.reservationHash,
            commandSignature: signature,
            command: command
        ).map { CarShareMessage.secure($0.bytes) }
    }
}

/// Why a text does not give credentials.
package enum CarShareCredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(CarShareTokenError)
    /// The text is a token, with these faults.
    case refused([CarShareTokenFault])

    package var description: String { reasons.joined(separator: "; ") }

    /// One sentence for each reason.
    package var reasons: [String] {
        switch self {
        case .unreadable(let error): [error.description]
        case .refused(let faults): faults.map(\.description)
        }
    }
}

extension CarShareLimits {
    /// The limits that a profile names, and the defaults for the others.
    static func named(by times: ProfileTimes) -> CarShareLimits {
        var limits = CarShareLimits()
        limits.arrival = times.arrival ?? limits.arrival
        limits.handshake = times.handshake ?? limits.handshake
        limits.result = times.result ?? limits.result
        limits.reply = times.answer ?? limits.reply
        limits.challenge = times.answer ?? limits.challenge
        limits.verdict = times.answer ?? limits.verdict
        return limits
    }
}
