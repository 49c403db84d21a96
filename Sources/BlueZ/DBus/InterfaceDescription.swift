/// The description of one of our interfaces, as other programs see it.
package struct InterfaceDescription: Sendable {
    package struct Argument: Sendable {
        package let name: String
        package let type: Signature

        package init(_ name: String, _ type: Signature) {
            self.name = name
            self.type = type
        }
    }

    package struct Method: Sendable {
        package let name: String
        package let takes: [Argument]
        package let gives: [Argument]

        package init(_ name: String, takes: [Argument] = [], gives: [Argument] = []) {
            self.name = name
            self.takes = takes
            self.gives = gives
        }

        /// The required types of a call's arguments.
        var signature: String { takes.map(\.type.text).joined() }
    }

    package struct Property: Sendable {
        package let name: String
        package let type: Signature
        package let isWritable: Bool

        package init(_ name: String, _ type: Signature, isWritable: Bool = false) {
            self.name = name
            self.type = type
            self.isWritable = isWritable
        }
    }

    package struct Signal: Sendable {
        package let name: String
        package let carries: [Argument]

        package init(_ name: String, carries: [Argument] = []) {
            self.name = name
            self.carries = carries
        }
    }

    package let name: String
    package let methods: [Method]
    package let properties: [Property]
    package let signals: [Signal]

    package init(
        _ name: String,
        methods: [Method] = [],
        properties: [Property] = [],
        signals: [Signal] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }

    func method(_ name: String) -> Method? { methods.first { $0.name == name } }
    func property(_ name: String) -> Property? { properties.first { $0.name == name } }
}

extension InterfaceDescription {
    static let peer = InterfaceDescription(
        "org.freedesktop.DBus.Peer",
        methods: [
            Method("Ping"), Method("GetMachineId", gives: [Argument("machine_uuid", .string)]),
        ]
    )
    static let introspectable = InterfaceDescription(
        "org.freedesktop.DBus.Introspectable",
        methods: [Method("Introspect", gives: [Argument("xml_data", .string)])]
    )
    package static let properties = InterfaceDescription(
        "org.freedesktop.DBus.Properties",
        methods: [
            Method(
                "Get",
                takes: [Argument("interface_name", .string), Argument("property_name", .string)],
                gives: [Argument("value", .variant)]
            ),
            Method(
                "Set",
                takes: [
                    Argument("interface_name", .string), Argument("property_name", .string),
                    Argument("value", .variant),
                ]
            ),
            Method(
                "GetAll",
                takes: [Argument("interface_name", .string)],
                gives: [Argument("properties", .properties)]
            ),
        ],
        signals: [
            Signal(
                "PropertiesChanged",
                carries: [
                    Argument("interface_name", .string),
                    Argument("changed_properties", .properties),
                    Argument("invalidated_properties", Signature(checked: "as")),
                ]
            )
        ]
    )
    package static let objectManager = InterfaceDescription(
        "org.freedesktop.DBus.ObjectManager",
        methods: [
            Method(
                "GetManagedObjects",
                gives: [Argument("objects", Signature(checked: "a{oa{sa{sv}}}"))]
            )
        ],
        signals: [
            Signal(
                "InterfacesAdded",
                carries: [
                    Argument("object", .objectPath),
                    Argument("interfaces", Signature(checked: "a{sa{sv}}")),
                ]
            ),
            Signal(
                "InterfacesRemoved",
                carries: [
                    Argument("object", .objectPath),
                    Argument("interfaces", Signature(checked: "as")),
                ]
            ),
        ]
    )
}

// MARK: Introspection

extension InterfaceDescription {
    /// The document that describes an object, sorted, with its children by name.
    static func document(_ interfaces: [InterfaceDescription], children: [String]) -> String {
        var text = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" \
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for interface in interfaces.sorted(by: { $0.name < $1.name }) { text += interface.xml }
        for child in children.sorted() { text += "  <node name=\"\(child)\"/>\n" }
        return text + "</node>\n"
    }

    /// The interface as XML.
    ///
    /// Names and signatures contain no characters that need escaping.
    private var xml: String {
        var text = "  <interface name=\"\(name)\">\n"
        for method in methods {
            text += "    <method name=\"\(method.name)\">\n"
            for argument in method.takes { text += argument.xml(" direction=\"in\"") }
            for argument in method.gives { text += argument.xml(" direction=\"out\"") }
            text += "    </method>\n"
        }
        for signal in signals {
            text += "    <signal name=\"\(signal.name)\">\n"
            for argument in signal.carries { text += argument.xml("") }
            text += "    </signal>\n"
        }
        for property in properties {
            let access = property.isWritable ? "readwrite" : "read"
            text += "    <property name=\"\(property.name)\" type=\"\(property.type)\""
            text += " access=\"\(access)\"/>\n"
        }
        return text + "  </interface>\n"
    }
}

extension InterfaceDescription.Argument {
    fileprivate func xml(_ direction: String) -> String {
        "      <arg name=\"\(name)\" type=\"\(type)\"\(direction)/>\n"
    }
}
