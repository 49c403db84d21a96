import Base
import Families
import Manifest
import Radio
import Show

/// The modules of a scan as a fleet list (CSV) that a manifest can name as it is.
package struct ScanRows {
    /// The cells of each row.
    private(set) var rows = [["id", "serial", "family", "profile"]]
    /// Why a module has no row, in a sentence for each.
    package private(set) var remarks: [String] = []

    package init(_ heard: HeardModules) {
        let modules = heard.modules
        let names = Dictionary(grouping: modules, by: \.name)
        let families = Dictionary(grouping: modules, by: \.serial)
        for module in modules {
            func skip(_ why: String) {
                remarks.append(
                    "no row for \(module.serial) of family \(module.family.rawValue): \(why)"
                )
            }
            let others = families[module.serial, default: []].map(\.family)
                .filter { $0 != module.family }
            if let other = others.first {
                skip("it is heard as \(other.rawValue) too; add a row with the right family")
            } else if heard.isShared(module) {
                skip("it is heard from several addresses, so several modules may be called that")
            } else if SpreadsheetNumber.isOne(module.serial.text) {
                skip("a fleet list takes such a serial for a number that a spreadsheet made")
            } else if let id = Self.id(
                of: module,
                isNamedAlone: names[module.name]?.count == 1
                    && Serial(module.name).flatMap { families[$0] }?.contains {
                        $0.serial != module.serial
                    } != true
            ) {
                rows.append([
                    id.text, module.serial.text, module.family.rawValue, module.profiles[0],
                ])
            } else {
                skip("neither its name nor its serial can be a vehicle's id")
            }
        }
    }

    package var csv: String { Self.csv(rows) }

    static func csv(_ rows: [[String]]) -> String {
        rows.map { $0.map(CSVReport.cell).joined(separator: ",") + "\r\n" }.joined()
    }

    /// Its name where it has one of its own, or else its serial.
    private static func id(of module: DiscoveredModule, isNamedAlone: Bool) -> VehicleID? {
        let unnamed = FamilyRegistry.shapes.first { $0.family == module.family }?.unnamed
        let isName =
            isNamedAlone && module.name != unnamed && !SpreadsheetNumber.isOne(module.name)
        return (isName ? VehicleID(module.name) : nil) ?? VehicleID(module.serial.text)
    }
}
