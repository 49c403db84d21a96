package import Radio

extension LogMessage.Pieces {
    package mutating func appendInterpolation(_ key: ComoduleKey) { appendLiteral("<secret>") }
}
