import Families
import Radio

/// A property with a new value.
public struct PropertyChange: Sendable, Hashable {
    /// The name of the property.
    public let name: String
    /// The new value.
    public let value: ModuleValue
    /// The number of earlier changes that were dropped because the reader was too slow.
    public let missed: Int
}

extension ConnectedModule {
    /// Each value that is reported or read from now on, and all values again after each new link.
    ///
    /// A module that does not notify is read only for the properties that `values(of:)` follows.
    /// Up to `count` changes are kept between two reads of a slow reader; the oldest are dropped
    /// first, and the next change that is read contains their number.
    public func changes(keeping count: Int = 256) -> AsyncStream<PropertyChange> {
        let heard = connection.changes.values(keeping: count)
        let (source, missed) = (Source(heard.stream), heard.missed)
        return AsyncStream {
            await source.next().map { reading in
                PropertyChange(
                    name: reading.name,
                    value: ModuleValue(reading.value),
                    missed: missed.take()
                )
            }
        }
    }

    /// All properties with their values: the current list, and a new one after each change; empty
    /// while the module is not connected.
    ///
    /// However fast they change, a slow reader costs the memory of one list, and misses only older
    /// lists, never the newest.
    public var propertyLists: AsyncStream<[ModuleProperty]> { connection.properties.values() }
}
