import VehicleModules

/// Any text is a record of an update or is refused; a record is read back as it was written.
func fuzzRecord(_ bytes: [UInt8]) {
    guard let record = FirmwareUpdateRecord(String(decoding: bytes, as: UTF8.self)) else { return }
    guard let again = FirmwareUpdateRecord(record.text), again == record,
        again.text == record.text, again.image == record.image
    else { fatalError("a record is not read back as it was written") }
    precondition(record.image.utf8.count == 64 && !record.text.contains { $0.isNewline })
}
