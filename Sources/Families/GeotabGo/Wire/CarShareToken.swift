package import Base

/// The token that opens a vehicle for a person: a signed reservation and its private key.
package struct CarShareToken: Sendable, Equatable {
    /// The text in the token; `service` is its value.
    package let serviceText: String
    /// The private key as PKCS#1 DER; nil when its text is not base64.
    package let privateKey: Secret?
    /// SHA-256 of the reservation's modulus with its leading zero.
    package let reservationHash: [UInt8]
    /// SHA-256 of the modulus of the tenant that issued the reservation.
    package let tenantHash: [UInt8]
    package let reservationBytes: [UInt8]
    package let reservationSignature: [UInt8]
    package let reservation: CarShareReservation

    /// The length limit for reading: many times the longest token that fits into one message.
    package static let longestText = 16_384

    /// Reads base64 of the token's protobuf message, with white space around it allowed.
    package init(text: Secret) throws(CarShareTokenError) {
        self = try text.withBytes { (bytes) throws(CarShareTokenError) in
            try CarShareToken(text: bytes)
        }
    }

    private init(text: [UInt8]) throws(CarShareTokenError) {
        guard text.count <= Self.longestText else { throw .tooLong(text.count) }
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let body = text.drop(while: isSpace)
        let end = body.lastIndex { !isSpace($0) } ?? body.startIndex
        guard !body.isEmpty else { throw .empty }
        guard var bytes = Base64.bytes(body[body.startIndex...end]) else { throw .notBase64 }
        defer { bytes.wipe() }
        let fields: ProtobufFields
        do throws(ProtobufError) {
            fields = try ProtobufFields(bytes)
        } catch { throw .notAToken(error) }
        guard Self.isKnown(fields) else { throw .otherMessage }
        serviceText = String(decoding: fields.bytes(1) ?? [], as: UTF8.self)
        if let key = Self.key(fields.bytes(2) ?? []) {
            privateKey = Secret(consume key)
        } else {
            privateKey = nil
        }
        reservationHash = fields.bytes(3) ?? []
        tenantHash = fields.bytes(4) ?? []
        reservationBytes = fields.bytes(5) ?? []
        reservationSignature = fields.bytes(6) ?? []
        do throws(ProtobufError) {
            reservation = try CarShareReservation(reservationBytes)
        } catch { throw .notAReservation(error) }
    }

    /// Whether the fields have the types of a token's fields, and at least one of these is present.
    private static func isKnown(_ fields: ProtobufFields) -> Bool {
        let ours = fields.fields.filter { (1...6).contains($0.number) }
        return !ours.isEmpty
            && ours.allSatisfy {
                if case .bytes = $0.value { true } else { false }
            }
    }

    /// The DER bytes of a base64 text, with or without the marker lines of a PEM file.
    private static func key(_ text: [UInt8]) -> [UInt8]? {
        var body = text
        for mark in ["-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"] {
            body = removing(Array(mark.utf8), from: body)
        }
        return body.isEmpty ? nil : Base64.bytes(ignoringUnknownIn: body)
    }

    private static func removing(_ mark: [UInt8], from text: [UInt8]) -> [UInt8] {
        guard text.count >= mark.count,
            let start = (0...text.count - mark.count).first(where: {
                text[$0..<$0 + mark.count].elementsEqual(mark)
            })
        else { return text }
        return Array(text[..<start] + text[(start + mark.count)...])
    }

    /// The service that the vehicle looks for; nil when the text is not a UUID of 36 characters.
    package var service: GATTUUID? {
        serviceText.utf8.count == 36 ? GATTUUID(serviceText) : nil
    }

    package var start: CarShareTime? { CarShareTime(reservation.start) }
    package var end: CarShareTime? { CarShareTime(reservation.end) }
    package var keyExpiry: CarShareTime? { CarShareTime(reservation.keyExpiry) }

    /// The last time at which the vehicle accepts the token: the end plus the grace period, but not
    /// after the key's expiry.
    package var lastMoment: WallTime? {
        guard let end else { return keyExpiry?.wallTime }
        let grace = end.wallTime.advanced(by: .seconds(Int64(reservation.graceSeconds)))
        guard let keyExpiry else { return grace }
        return min(grace, keyExpiry.wallTime)
    }
}

/// Why a text is not a car-share token; the message contains no part of the text.
package enum CarShareTokenError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLong(Int)
    case notBase64
    case notAToken(ProtobufError)
    /// A protobuf message other than a token.
    case otherMessage
    case notAReservation(ProtobufError)

    package var description: String {
        switch self {
        case .empty: "it is empty"
        case .tooLong(let count):
            "it has \(count) characters, and no token has more than \(CarShareToken.longestText)"
        case .notBase64: "it is not base64"
        case .notAToken: "it is base64, but what it spells is no token"
        case .otherMessage: "it is base64 of a message that is not a token"
        case .notAReservation: "the reservation in it cannot be read"
        }
    }
}
