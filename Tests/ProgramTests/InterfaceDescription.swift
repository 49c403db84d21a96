import Base
import Site

/// The description of the interface, with as much of JSON Schema as it uses.
struct InterfaceDescription {
    private let document: JSONValue

    init() throws { document = try JSONValue(json: OpenAPIDocument.text) }

    var paths: [JSONMember] { document["paths"]?.members ?? [] }

    var schemas: [String] { (document["components"]?["schemas"]?.members ?? []).map(\.name) }

    /// The names that are referred to anywhere.
    var references: Set<String> { Self.references(in: document) }

    private static func references(in value: JSONValue) -> Set<String> {
        var found: Set<String> = []
        for member in value.members ?? [] {
            if member.name == "$ref", let text = member.value.string {
                found.insert(text.replacing("#/components/schemas/", with: ""))
            }
            found.formUnion(references(in: member.value))
        }
        for element in value.array ?? [] { found.formUnion(references(in: element)) }
        return found
    }

    func parameters(of path: String, _ method: String) -> [JSONValue] {
        document["paths"]?[path]?[method]?["parameters"]?.array ?? []
    }

    func schema(_ name: String) -> JSONValue {
        document["components"]?["schemas"]?[name] ?? .null
    }

    /// What a value has that is not described, or has not that is; the places of members are noted.
    func faults(
        _ value: JSONValue,
        _ schema: JSONValue,
        _ place: String,
        _ seen: inout Set<String>
    )
        -> [String]
    {
        if let reference = schema["$ref"]?.string {
            let name = String(reference.split(separator: "/").last ?? "")
            return faults(value, self.schema(name), place, &seen)
        }
        if let words = schema["enum"]?.array {
            return words.contains(value) ? [] : ["\(place) is \(value.text)"]
        }
        if let constant = schema["const"] {
            return value == constant ? [] : ["\(place) is \(value.text)"]
        }
        let types = schema["type"]?.array ?? [schema["type"] ?? .null]
        guard types.contains(.string(Self.type(of: value))) else {
            return ["\(place) is a \(Self.type(of: value)), described as \(types)"]
        }
        if let elements = value.array, let items = schema["items"] {
            return elements.flatMap { faults($0, items, place + "[]", &seen) }
        }
        guard let members = value.members else { return [] }
        var found: [String] = []
        for member in members {
            seen.insert(place + "." + member.name)
            if let property = schema["properties"]?[member.name] {
                found += faults(member.value, property, place + "." + member.name, &seen)
            } else if schema["additionalProperties"] == false {
                found.append("\(place).\(member.name) is not described")
            }
        }
        for name in schema["required"]?.array?.compactMap(\.string) ?? []
        where value[name] == nil {
            found.append("\(place).\(name) is described as always there")
        }
        return found
    }

    /// The places of all members that a schema has, written as `faults` notes them.
    func places(_ schema: JSONValue, _ place: String) -> Set<String> {
        if let reference = schema["$ref"]?.string {
            let name = String(reference.split(separator: "/").last ?? "")
            return places(self.schema(name), place)
        }
        if let items = schema["items"] { return places(items, place + "[]") }
        var found: Set<String> = []
        for member in schema["properties"]?.members ?? [] {
            let own = place + "." + member.name
            found.insert(own)
            found.formUnion(places(member.value, own))
        }
        return found
    }

    private static func type(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
