/// A number with its noun: `1 vehicle`, `3 vehicles`.
package func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
