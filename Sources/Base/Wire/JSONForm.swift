/// How the values of a type are written as JSON, with the JSON Schema (2020-12) of the result.
///
/// Writer and schema are made from one list, so that a document always matches its schema.
package struct JSONForm<Value>: Sendable {
    package let schema: JSONValue
    /// The named forms that this one uses, including itself, with their schemas.
    package let named: [JSONMember]
    private let write: @Sendable (Value) -> JSONValue

    private init(
        _ schema: JSONValue,
        named: [JSONMember] = [],
        _ write: @escaping @Sendable (Value) -> JSONValue
    ) {
        self.schema = schema
        self.named = named
        self.write = write
    }

    package func json(of value: Value) -> JSONValue { write(value) }

    /// A text; `format` is a name from JSON Schema's list of formats.
    package static func text(
        format: String? = nil,
        _ text: @escaping @Sendable (Value) -> String
    ) -> JSONForm {
        JSONForm(.object(["type": "string", "format": format.map { .string($0) }])) {
            .string(text($0))
        }
    }

    package static func integer(_ integer: @escaping @Sendable (Value) -> Int) -> JSONForm {
        JSONForm(.object(["type": "integer"])) { .int(integer($0)) }
    }

    package static func flag(_ flag: @escaping @Sendable (Value) -> Bool) -> JSONForm {
        JSONForm(.object(["type": "boolean"])) { .bool(flag($0)) }
    }

    /// One of these words.
    package static func word(
        of words: [String],
        _ word: @escaping @Sendable (Value) -> String
    ) -> JSONForm {
        JSONForm(
            .object(["type": "string", "enum": .array(words.map { .string($0) })])
        ) { .string(word($0)) }
    }

    /// A value that is the same in every document.
    package static func constant(_ value: JSONValue) -> JSONForm {
        JSONForm(.object(["const": value])) { _ in value }
    }

    /// For the few values that can have several types; `types` are JSON Schema types.
    package static func anyOf(
        _ types: [String],
        _ write: @escaping @Sendable (Value) -> JSONValue
    ) -> JSONForm {
        JSONForm(.object(["type": .array(types.map { .string($0) })]), write)
    }

    /// An object whose members have arbitrary names and text values.
    package static func texts(
        _ texts: @escaping @Sendable (Value) -> [(name: String, text: String)]
    ) -> JSONForm {
        JSONForm(.object(["type": "object", "additionalProperties": .object(["type": "string"])])) {
            .object(texts($0).map { JSONMember($0.name, .string($0.text)) })
        }
    }

    /// An object with these members, in their order.
    ///
    /// With a name, other forms can refer to it.
    package static func object(
        _ name: String? = nil,
        _ sentence: String? = nil,
        @JSONMembers<Value> _ members: () -> [Member]
    ) -> JSONForm {
        let members = members()
        let schema = JSONValue.object([
            "type": "object",
            "description": sentence.map { .string($0) },
            "properties": .object(members.map { JSONMember($0.name, $0.schema) }),
            "required": .array(members.filter(\.isAlways).map { .string($0.name) }),
            "additionalProperties": false,
        ])
        let form = JSONForm(schema, named: members.flatMap(\.named)) { value in
            .object(
                members.compactMap { member in
                    member.write(value).map { JSONMember(member.name, $0) }
                }
            )
        }
        return name.map { form.called($0) } ?? form
    }

    /// The same form under a name: documents refer to it instead of repeating it.
    package func called(_ name: String) -> JSONForm {
        JSONForm(
            .object(["$ref": .string("#/components/schemas/\(name)")]),
            named: named + [JSONMember(name, schema)],
            write
        )
    }

    /// A list of these values.
    package var list: JSONForm<[Value]> {
        let write = write
        return JSONForm<[Value]>(.object(["type": "array", "items": schema]), named: named) {
            .array($0.map { write($0) })
        }
    }

    /// A value of this form, or null.
    package var orNull: JSONForm<Value?> {
        let write = write
        var members = schema.members ?? []
        if let type = members.firstIndex(where: { $0.name == "type" }) {
            members[type] = JSONMember("type", .array([members[type].value, "null"]))
        } else {
            members = [JSONMember("anyOf", .array([schema, .object(["type": "null"])]))]
        }
        let schema = JSONValue.object(members)
        return JSONForm<Value?>(schema, named: named) { $0.map { write($0) } ?? .null }
    }

    /// A member of an object: its name, its description, and the source of its value.
    package struct Member: Sendable {
        package let name: String
        package let schema: JSONValue
        /// Whether every object contains it.
        package let isAlways: Bool
        package let named: [JSONMember]
        let write: @Sendable (Value) -> JSONValue?

        /// A member that is always present.
        package init<Part>(
            _ name: String,
            _ sentence: String? = nil,
            as form: JSONForm<Part>,
            _ part: @escaping @Sendable (Value) -> Part
        ) {
            self.init(name, sentence, form.schema, form.named, isAlways: true) {
                form.json(of: part($0))
            }
        }

        /// A member that is present only if it has a value.
        package init<Part>(
            ifAny name: String,
            _ sentence: String? = nil,
            as form: JSONForm<Part>,
            _ part: @escaping @Sendable (Value) -> Part?
        ) {
            self.init(name, sentence, form.schema, form.named, isAlways: false) {
                part($0).map { form.json(of: $0) }
            }
        }

        package init<Part: JSONDescribed>(
            _ name: String,
            _ part: @escaping @Sendable (Value) -> Part
        ) {
            self.init(name, as: Part.jsonForm, part)
        }

        package init<Part: JSONDescribed>(
            _ name: String,
            _ sentence: String,
            _ part: @escaping @Sendable (Value) -> Part
        ) {
            self.init(name, sentence, as: Part.jsonForm, part)
        }

        package init<Part: JSONDescribed>(
            ifAny name: String,
            _ part: @escaping @Sendable (Value) -> Part?
        ) {
            self.init(ifAny: name, as: Part.jsonForm, part)
        }
        package init<Part: JSONDescribed>(
            ifAny name: String,
            _ sentence: String,
            _ part: @escaping @Sendable (Value) -> Part?
        ) {
            self.init(ifAny: name, sentence, as: Part.jsonForm, part)
        }

        private init(
            _ name: String,
            _ sentence: String?,
            _ schema: JSONValue,
            _ named: [JSONMember],
            isAlways: Bool,
            _ write: @escaping @Sendable (Value) -> JSONValue?
        ) {
            self.name = name
            let description = sentence.map { [JSONMember("description", .string($0))] } ?? []
            self.schema = .object((schema.members ?? []) + description)
            self.named = named
            self.isAlways = isAlways
            self.write = write
        }

        /// The version of all documents: members are added, and never renamed.
        package static var version: Member {
            Member("schema", as: JSONForm<Void>.constant(1)) { _ in }
        }

        /// The same member in an object that contains a value of this type.
        package func inside<Outer>(
            _ path: @escaping @Sendable (Outer) -> Value
        ) -> JSONForm<Outer>.Member {
            let write = write
            return JSONForm<Outer>.Member(name, nil, schema, named, isAlways: isAlways) {
                write(path($0))
            }
        }
    }
}

/// Collects the members of an object; the type checker handles each one separately.
@resultBuilder package enum JSONMembers<Value> {
    package typealias Member = JSONForm<Value>.Member

    package static func buildExpression(_ member: Member) -> [Member] { [member] }
    package static func buildExpression(_ members: [Member]) -> [Member] { members }
    package static func buildBlock(_ members: [Member]...) -> [Member] { members.flatMap(\.self) }
    package static func buildArray(_ members: [[Member]]) -> [Member] { members.flatMap(\.self) }
}

/// A type whose values are always written in the same form.
package protocol JSONDescribed {
    static var jsonForm: JSONForm<Self> { get }
}

extension JSONDescribed {
    package var json: JSONValue { Self.jsonForm.json(of: self) }
}

extension JSONDescribed where Self: RawRepresentable<String> & CaseIterable {
    /// The raw value of the case, which is one of the words of all cases.
    package static var jsonForm: JSONForm<Self> {
        .word(of: allCases.map(\.rawValue), \.rawValue)
    }
}

extension String: JSONDescribed {
    package static var jsonForm: JSONForm<String> { .text(\.self) }
}

extension Int: JSONDescribed {
    package static var jsonForm: JSONForm<Int> { .integer(\.self) }
}

extension Bool: JSONDescribed {
    package static var jsonForm: JSONForm<Bool> { .flag(\.self) }
}

extension Array: JSONDescribed where Element: JSONDescribed {
    package static var jsonForm: JSONForm<[Element]> { Element.jsonForm.list }
}
