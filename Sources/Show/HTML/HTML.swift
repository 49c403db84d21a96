import Base

/// A piece of a page.
///
/// A literal is markup, and what is put into it as text is escaped.
package struct HTML: Sendable, ExpressibleByStringInterpolation {
    package private(set) var text: String

    package init(stringLiteral text: String) { self.text = text }

    package init(stringInterpolation parts: StringInterpolation) { text = parts.text }

    package init(_ pieces: [HTML], between: String = "") {
        text = pieces.lazy.map(\.text).joined(separator: between)
    }

    var isEmpty: Bool { text.isEmpty }

    package static func + (left: HTML, right: HTML) -> HTML { "\(left)\(right)" }

    package static func += (left: inout HTML, right: HTML) { left.text += right.text }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ markup: String) { text += markup }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += Markup.text(value.description)
        }

        package mutating func appendInterpolation(_ piece: HTML?) { text += piece?.text ?? "" }

        package mutating func appendInterpolation(_ pieces: [HTML]) { text += HTML(pieces).text }
    }
}
