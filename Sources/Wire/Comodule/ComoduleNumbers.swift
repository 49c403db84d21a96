package import Domain

/// The numbers of one publicly described Comodule module.
///
/// The maker publishes none; these come from third parties, who read them off one product.
package enum ComoduleNumbers {
    package static let company: UInt16 = 0x020F

    package static let metricsService = "00001554-1212-efde-1523-785feabcd123"
    package static let notifier = "0000155e-1212-efde-1523-785feabcd123"
    package static let register = "0000155f-1212-efde-1523-785feabcd123"
    package static let selector = "00001564-1212-efde-1523-785feabcd123"
    package static let securityService = "00002554-1212-efde-1523-785feabcd123"
    package static let key = "00002555-1212-efde-1523-785feabcd123"
    package static let challenge = "00002556-1212-efde-1523-785feabcd123"
    package static let response = "00002557-1212-efde-1523-785feabcd123"
    package static let authenticated = "00002558-1212-efde-1523-785feabcd123"

    package static let deviceInformation: UInt16 = 0x180A
    package static let manufacturerName: UInt16 = 0x2A29
    package static let firmwareRevision: UInt16 = 0x2A26
    package static let hardwareRevision: UInt16 = 0x2A27
    package static let softwareRevision: UInt16 = 0x2A28

    /// The serial is the eight bytes that follow the company identifier.
    package static func serial(manufacturerData: [UInt8]) -> Serial? {
        manufacturerData.count == 8 ? Serial(bytes: manufacturerData) : nil
    }
}
