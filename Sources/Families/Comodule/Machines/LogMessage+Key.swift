package import Modules

extension LogMessage.Pieces {
    package mutating func appendInterpolation(_ key: ComoduleKey) { appendLiteral("<secret>") }
}
