import Base

/// Recognises what people give as a fleet list before they have saved it as one.
enum ForeignFile {
    private static let advice = "save it as CSV UTF-8"
    private static let zip: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
    /// The first entry of an OpenDocument file, which has its place and is never packed.
    private static let openDocument = Array("mimetypeapplication/vnd.oasis.opendocument.".utf8)
    /// Where the name of a ZIP file's first entry starts.
    private static let firstName = 30

    /// Why the bytes are not the text of a fleet list; nil when they may be.
    static func fault(_ bytes: [UInt8], file: String) -> Diagnostic? {
        if bytes.starts(with: zip) {
            let isOpen = bytes.dropFirst(firstName).starts(with: openDocument)
            return Diagnostic(
                .error,
                Place(file: file, line: 1, column: 1),
                isOpen
                    ? "this is an OpenDocument file (such as .ods), not CSV"
                    : "this is an Excel workbook (.xlsx) or another ZIP file, not CSV",
                hint: advice
            )
        }
        let fault = SourceCheck.fault(bytes, directives: true) { line, column in
            Place(file: file, line: line, column: column)
        }
        guard let fault else { return nil }
        let known = fault.diagnostic(file: file)
        switch fault {
        case .invalidUTF8, .otherEncoding:
            return Diagnostic(known.severity, known.place, known.message, hint: advice)
        case .tooLarge, .empty, .binary, .controlCharacter, .tab, .syntax, .directive, .tooDeep,
            .tooManyNodes, .severalDocuments, .tag, .mergeKey, .keyNotText, .duplicateKey,
            .unknownAlias, .aliasOfItself:
            return known
        }
    }
}
