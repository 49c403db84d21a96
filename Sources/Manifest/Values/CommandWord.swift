/// A car-share command by its word in a manifest.
package enum CommandWord: String, CaseIterable, Sendable, Hashable {
    case lock
    case unlockDriver = "unlock-driver"
    case unlockAll = "unlock-all"
    case openTrunk = "open-trunk"
    case closeTrunk = "close-trunk"
    case locate
    case ignitionInhibit = "ignition-inhibit"
    case ignitionEnable = "ignition-enable"
    case checkIn = "check-in"
    case checkOut = "check-out"
    case secureConditionsCheck = "secure-conditions-check"
}
