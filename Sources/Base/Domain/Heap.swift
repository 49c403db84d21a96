/// A queue from which the least element is taken first.
///
/// Its code is inlined into the rooms that use it: the simulation adds and takes an element for
/// every event, and calls without a known element type needed a quarter more processor time.
/// The compiler inlines it only when the type itself is usable from inline.
@usableFromInline package struct Heap<Element: Comparable> {
    @usableFromInline var elements: [Element] = []

    @inlinable package init() {}

    @inlinable package var first: Element? { elements.first }
    @inlinable package var isEmpty: Bool { elements.isEmpty }
    @inlinable package var count: Int { elements.count }

    @inlinable
    package mutating func insert(_ element: Element) {
        var child = elements.count
        elements.append(element)
        while child > 0 {
            let parent = (child - 1) / 2
            guard element < elements[parent] else { break }
            elements[child] = elements[parent]
            child = parent
        }
        elements[child] = element
    }

    @inlinable
    package mutating func takeFirst() -> Element? {
        guard let first = elements.first else { return nil }
        let last = elements.removeLast()
        if !elements.isEmpty { sink(last, from: 0) }
        return first
    }

    /// Removes all elements for which `fits` is true.
    @inlinable
    package mutating func removeAll(where fits: (Element) -> Bool) {
        elements.removeAll(where: fits)
        for place in stride(from: elements.count / 2 - 1, through: 0, by: -1) {
            sink(elements[place], from: place)
        }
    }

    /// Puts an element in this place, or below smaller ones.
    @inlinable
    mutating func sink(_ element: Element, from place: Int) {
        var parent = place
        while true {
            var child = 2 * parent + 1
            guard child < elements.count else { break }
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard elements[child] < element else { break }
            elements[parent] = elements[child]
            parent = child
        }
        elements[parent] = element
    }
}

extension Heap: Sendable where Element: Sendable {}
