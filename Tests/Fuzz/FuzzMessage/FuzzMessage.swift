import FuzzProperties

/// What libFuzzer calls with each input: octets as what came over the network.
@c(LLVMFuzzerTestOneInput)
public func take(_ octets: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let octets = unsafe octets else { return 0 }
    let fuzzer = MessageFuzzer()
    // Safe: libFuzzer lends `count` octets for the call.
    fuzzer.take(unsafe Span(_unsafeStart: octets, count: count))
    return 0
}
