import Base

/// The grammar as a JSON Schema (2020-12) for editors; the same text on every run.
package func manifestJSONSchema() -> String {
    var members = [
        JSONMember("$schema", "https://json-schema.org/draft/2020-12/schema"),
        JSONMember("title", "Yardmaster fleet manifest"),
    ]
    members += Grammar.manifest.schemaMembers
    members.append(
        JSONMember(
            "$defs",
            .object(
                Grammar.tables.dropFirst()
                    .sorted { $0.name < $1.name }
                    .map { JSONMember($0.name, .object($0.schemaMembers)) }
            )
        )
    )
    return JSONValue.object(members).text + "\n"
}

extension Table {
    fileprivate var schemaMembers: [JSONMember] {
        let required = fields.filter { $0.presence == .required }.map(\.key)
        let beside = fields.compactMap { field in
            field.beside.map { JSONMember(field.key, .array([.string($0)])) }
        }
        var members = [
            JSONMember("description", .string(sentence)),
            JSONMember("type", "object"),
            JSONMember(
                "properties",
                .object(fields.map { JSONMember($0.key, .object($0.schemaMembers)) })
            ),
        ]
        if !required.isEmpty { members.append(JSONMember("required", .strings(required))) }
        if !exactlyOne.isEmpty {
            let choices = exactlyOne.map { JSONValue.object(["required": .strings([$0])]) }
            members.append(JSONMember("oneOf", .array(choices)))
        }
        if !beside.isEmpty { members.append(JSONMember("dependentRequired", .object(beside))) }
        members.append(JSONMember("patternProperties", .object(["^x-": true])))
        members.append(
            JSONMember("additionalProperties", otherKeys.map { .object($0.schemaMembers) } ?? false)
        )
        return members
    }
}

extension Field {
    fileprivate var schemaMembers: [JSONMember] {
        var members = [JSONMember("description", .string(sentence))]
        members += shape.schemaMembers
        if case .fallback(let text) = presence {
            members.append(JSONMember("default", shape.schemaValue(text)))
        }
        return members
    }
}

extension Shape {
    fileprivate var schemaMembers: [JSONMember] {
        switch self {
        case .form(let form):
            return [JSONMember("type", "string"), JSONMember("pattern", .string(form.pattern))]
        case .integer(let range):
            return [
                JSONMember("type", "integer"),
                JSONMember("minimum", .int(range.lowerBound)),
                JSONMember("maximum", .int(range.upperBound)),
            ]
        case .boolean: return [JSONMember("type", "boolean")]
        case .duration:
            return [
                JSONMember("type", "string"),
                JSONMember("pattern", "^([0-9]{1,9}(ms|s|m|h|d))+$"),
            ]
        case .size:
            return [
                JSONMember("type", ["string", "integer"]),
                JSONMember("pattern", "^[0-9]{1,15}(B|[KMG]iB|kB|MB|GB)?$"),
            ]
        case .percent:
            return [
                JSONMember("type", "string"),
                JSONMember("pattern", "^[0-9]{1,3}(\\.[0-9]{1,2})?%$"),
            ]
        case .words(let words): return [JSONMember("enum", .strings(words))]
        case .literal, .condition: return [JSONMember("type", ["string", "number", "boolean"])]
        case .list(let shape, let least):
            return [
                JSONMember("type", "array"),
                JSONMember("items", .object(shape.schemaMembers)),
                JSONMember("minItems", .int(least)),
            ]
        case .table(let table): return [JSONMember("$ref", .string("#/$defs/\(table.name)"))]
        case .map(let key, let shape):
            return [
                JSONMember("type", "object"),
                JSONMember("propertyNames", .object(["pattern": .string(key.pattern)])),
                JSONMember("patternProperties", .object(["^x-": true])),
                JSONMember("additionalProperties", .object(shape.schemaMembers)),
            ]
        case .either(let shapes):
            return [JSONMember("anyOf", .array(shapes.map { .object($0.schemaMembers) }))]
        }
    }

    /// A default as the JSON value that a user of the schema would write.
    fileprivate func schemaValue(_ text: String) -> JSONValue {
        switch self {
        case .integer: return Int(text).map(JSONValue.int) ?? .string(text)
        case .boolean: return .bool(text == "true")
        case .list where text.hasPrefix("["):
            return .array([.string(String(text.dropFirst().dropLast()))])
        case .either(let shapes): return shapes.first?.schemaValue(text) ?? .string(text)
        case .form, .duration, .size, .percent, .words, .literal, .condition, .list, .table, .map:
            return .string(text)
        }
    }
}

extension JSONValue {
    fileprivate static func strings(_ texts: [String]) -> JSONValue {
        .array(texts.map(JSONValue.string))
    }
}
