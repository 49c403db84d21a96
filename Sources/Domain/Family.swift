/// The kind of module, and so the protocol it speaks.
package enum Family: String, CaseIterable, Sendable, Hashable {
    case comodule
    case lrdevice
    case geotabGo = "geotab-go"
    case mcumgr
    case nordic
    case esp
}
