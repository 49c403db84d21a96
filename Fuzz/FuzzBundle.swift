import Images

/// Any bytes are the beginning of a bundle, or they are refused; a parsed index is written as it
/// was.
func fuzzBundle(_ bytes: [UInt8]) {
    guard let length = try? BundleIndex.indexLength(Array(bytes.prefix(BundleIndex.headLength))),
        bytes.count - BundleIndex.headLength >= length
    else { return }
    let index = Array(bytes[BundleIndex.headLength..<(BundleIndex.headLength + length)])
    guard let read = try? BundleIndex(index, total: Int64(bytes.count)) else { return }
    var end = Int64(BundleIndex.headLength + length)
    for member in read.members {
        guard let (offset, found) = try? read.place(of: member.name) else {
            fatalError("a part that is listed is not found")
        }
        precondition(found == member && offset == end, "parts follow each other")
        if !member.isHeld { end += member.size }
    }
    precondition(end == Int64(bytes.count), "nothing follows the last part")
    guard
        let again = try? BundleIndex.head(
            of: read.members,
            created: read.created,
            base: read.base
        )
    else {
        fatalError("what was read cannot be written")
    }
    precondition(again.members == read.members)
}
