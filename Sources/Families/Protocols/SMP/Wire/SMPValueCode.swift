/// Result codes of the groups that hold values: statistics, settings, files.
package enum SMPValueCode {
    package static let statisticsGroupUnknown = 2
    package static let settingUnknown = 3
    package static let settingRootUnknown = 5
    package static let fileUnknown = 3
    package static let fileFull = 10
    package static let fileOffset = 11
    package static let fileEmpty = 16

    /// The codes that mean that nothing of that name exists.
    static let absences: [UInt16: Set<Int>] = [
        SMPNumbers.Group.statistics: [statisticsGroupUnknown, 3],
        SMPNumbers.Group.settings: [settingUnknown, settingRootUnknown],
        SMPNumbers.Group.files: [fileUnknown, 14],
    ]

    private static let words: [UInt16: [String]] = [
        SMPNumbers.Group.statistics: [
            "no error", "unknown error", "no such group of statistics", "no such statistic",
            "a statistic of a size that cannot be told", "the statistics changed meanwhile",
        ],
        SMPNumbers.Group.settings: [
            "no error", "unknown error", "the setting's key is too long", "no such setting",
            "the setting cannot be read", "no setting begins with this name",
            "the setting cannot be written", "the setting cannot be deleted",
        ],
        SMPNumbers.Group.files: [
            "no error", "unknown error", "a bad file name", "no such file",
            "it is a folder and no file", "the file cannot be opened",
            "the place in the file cannot be reached", "the file cannot be read",
            "the file cannot be cut", "the file cannot be deleted", "the file cannot be written",
            "not the place where the file ends", "a place behind the file's end",
            "no such checksum", "no such file system", "the file system is read-only",
            "the file is empty",
        ],
    ]

    static func words(_ group: UInt16, _ code: Int) -> String? {
        guard let list = words[group], list.indices.contains(code) else { return nil }
        return list[code]
    }
}
