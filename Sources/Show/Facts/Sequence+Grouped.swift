extension Sequence {
    /// The elements that have the same key together, in the order of the first of each.
    package func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(
        key: Key, members: [Element]
    )] {
        var groups: [(key: Key, members: [Element])] = []
        var places: [Key: Int] = [:]
        for element in self {
            let key = key(element)
            if let place = places[key] {
                groups[place].members.append(element)
            } else {
                places[key] = groups.count
                groups.append((key, [element]))
            }
        }
        return groups
    }
}
