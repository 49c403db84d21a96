import Base

/// A software bill of materials as CycloneDX JSON, reduced to the facts that are shown to people.
package struct BillOfMaterials: Sendable, Equatable {
    package static let longest: Int64 = 16 << 20

    package let specVersion: String
    /// The name and version of its subject, as the document states them.
    package let subject: String?
    package let components: Int

    package init(_ bytes: [UInt8]) throws(AttestationFault) {
        guard !bytes.isEmpty else { throw .empty }
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(json: bytes)
        } catch {
            let line = bytes.prefix(error.offset).count { $0 == 0x0A } + 1
            throw .notJSON(line: line, error)
        }
        guard document["bomFormat"]?.string == "CycloneDX" else {
            throw .noBill(member: "bomFormat")
        }
        guard let version = document["specVersion"]?.string,
            version.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E })
        else { throw .noBill(member: "specVersion") }
        let list = document["components"]
        guard list == nil || list?.array != nil else { throw .noBill(member: "components") }
        specVersion = version
        components = list?.array?.count ?? 0
        let main = document["metadata"]?["component"]
        let words = [main?["name"]?.string, main?["version"]?.string].compactMap { $0 }
        subject = words.isEmpty ? nil : words.joined(separator: " ")
    }
}
