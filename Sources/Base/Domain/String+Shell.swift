extension String {
    /// One word of a command line, quoted where necessary.
    package var quotedForShell: String {
        let isPlain = utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case 0x2B...0x2F, 0x3A, 0x40, 0x5F, 0x25: true
            default: false
            }
        }
        guard !isPlain || isEmpty else { return self }
        return "'"
            + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
            + "'"
    }
}
