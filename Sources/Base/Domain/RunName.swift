/// The name of a run: its number, and its gateway when several gateways share a fleet.
package struct RunName: Sendable, Hashable, CustomStringConvertible {
    /// Nil for a run of this machine.
    package let gateway: String?
    /// Counts from 1 within a state directory; 0 when it is not known.
    package let number: Int

    package init(_ number: Int, of gateway: String? = nil) {
        self.gateway = gateway
        self.number = number
    }

    /// Parses `north/12`; a gateway's own name may contain a slash.
    package init?(_ text: String) {
        guard let slash = text.lastIndex(of: "/"), slash != text.startIndex else { return nil }
        let digits = text[text.index(after: slash)...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
            number > 0
        else { return nil }
        self.init(number, of: String(text[..<slash]))
    }

    package var description: String {
        guard let gateway else { return "\(number)" }
        return number > 0 ? "\(gateway.visible)/\(number)" : gateway.visible
    }
}
