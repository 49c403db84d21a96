/// A queue from which the least element is taken first.
package struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    package init() {}

    package var first: Element? { elements.first }
    package var isEmpty: Bool { elements.isEmpty }

    package mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    package mutating func takeFirst() -> Element? {
        guard let first = elements.first else { return nil }
        let last = elements.removeLast()
        if !elements.isEmpty {
            elements[0] = last
            sinkFirst()
        }
        return first
    }

    private mutating func sinkFirst() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < elements.count && elements[child] < elements[least] {
                least = child
            }
            if least == parent { return }
            elements.swapAt(parent, least)
            parent = least
        }
    }
}

extension Heap: Sendable where Element: Sendable {}
