package import Base

/// Issues tokens for simulated vehicles, as a tenant's server would.
package struct GOTokenIssuer: Sendable {
    private let tenant: RSAPrivateKey
    private let reservationKey: [UInt8]
    private let reservationModulus: [UInt8]

    /// Both keys are PKCS#1 DER; nil when one of them is not a valid key.
    package init?(tenant: [UInt8], reservation: [UInt8]) {
        guard let tenant = RSAPrivateKey(pkcs1: tenant),
            let key = RSAPrivateKey(pkcs1: reservation)
        else { return nil }
        self.tenant = tenant
        reservationKey = reservation
        reservationModulus = key.modulus
    }

    /// The modulus by which devices know the tenant.
    package var modulus: [UInt8] { tenant.modulus }

    /// A reservation with all permissions for one vehicle, between two times in milliseconds.
    package func reservation(
        hardwareID: UInt32,
        from start: WallTime,
        until end: WallTime
    ) -> CarShareReservation {
        var reservation = CarShareReservation()
        reservation.modulus = reservationModulus
        reservation.reservationID = "R-\(hardwareID)"
        reservation.accountID = "depot"
        reservation.hardwareID = UInt64(hardwareID)
        reservation.permissions = CarShareCommand.allCases.reduce(0) { $0 | $1.bit }
        reservation.start = UInt64(clamping: start.milliseconds)
        reservation.end = UInt64(clamping: end.milliseconds)
        reservation.graceSeconds = 900
        reservation.keyExpiry = reservation.end + 900_000
        return reservation
    }

    /// The token as text; nil when the tenant's key cannot sign.
    package func token(
        _ reservation: CarShareReservation,
        _ change: (inout Parts) -> Void = { _ in }
    ) -> Secret? {
        let bytes = reservation.serialized
        guard let signature = tenant.signature(of: bytes) else { return nil }
        let service = UInt32(exactly: reservation.hardwareID).flatMap {
            AddOnNumbers.service(ofHardware: $0, sha256: SHA256.digest)
        }
        var parts = Parts(
            service: service?.description.uppercased() ?? "",
            key: Base64.text(reservationKey),
            reservationHash: SHA256.digest(of: reservationModulus).bytes,
            tenantHash: SHA256.digest(of: tenant.modulus).bytes,
            reservation: bytes,
            signature: signature
        )
        change(&parts)
        return Secret(Array(parts.text.utf8))
    }

    /// The six fields of a token, for tests that need a wrong one.
    package struct Parts: Sendable {
        package var service: String
        package var key: String
        package var reservationHash: [UInt8]
        package var tenantHash: [UInt8]
        package var reservation: [UInt8]
        package var signature: [UInt8]

        var text: String {
            var fields = ProtobufFields()
            fields.add(1, Array(service.utf8))
            fields.add(2, Array(key.utf8))
            fields.add(3, reservationHash)
            fields.add(4, tenantHash)
            fields.add(5, reservation)
            fields.add(6, signature)
            return Base64.text(fields.serialized)
        }
    }
}
