/// CRC-16 with the polynomial 0x1021, most significant bit first, without reflection.
///
/// Nordic's legacy DFU starts with FFFF, ESP's BLE OTA with 0000.
package enum CRC16 {
    package static func of(_ bytes: some Sequence<UInt8>, from seed: UInt16) -> UInt16 {
        var crc = seed
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        }
        return crc
    }
}
