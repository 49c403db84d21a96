import Families
import Modules

/// A property that has another value than before.
public struct PropertyChange: Sendable, Hashable {
    public let name: String
    public let value: ModuleValue
    /// Changes before this one that nobody took in time, and that are gone.
    public let missed: Int
}

extension ConnectedModule {
    /// Each change of each property from now on, whether the module told it or was asked.
    ///
    /// Between two looks of a slow reader `count` changes are kept; the oldest go first, and the next one that is
    /// read says how many went.
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

    /// All properties with their values: now, and each time one changes; empty while the module is not connected.
    ///
    /// However fast they change, a slow reader costs the memory of one list, and misses only what is older than
    /// the newest.
    public var propertyLists: AsyncStream<[ModuleProperty]> {
        let (source, connection) = (Source(connection.properties.values()), connection)
        return AsyncStream {
            guard let list = await source.next() else { return nil }
            return await Self.properties(in: list, of: connection)
        }
    }
}
