internal import COpenSSL

/// OpenSSL's word on one path alone: signatures, purposes, constraints, names, revocation.
///
/// One pass with X509_STRICT serves both verdicts, because every complaint is collected: those
/// that only strict checking makes become a compatibility finding, the others count.
enum OpenSSLCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        guard path.anchor != nil else { return [] }
        guard let complaints = complaints(about: path, question) else {
            return [Finding(.internalError, .endpoint, "OpenSSL could not work")]
        }
        var findings: [Finding] = []
        var strict: [String] = []
        for complaint in complaints {
            let index = min(Int(complaint.depth), path.certificates.count - 1)
            let element = path.element(max(0, index))
            let isAnchor = index == path.certificates.count - 1
            // Dates are our own check; what the anchor's issuer revoked is not for us to ask.
            if isDate(complaint.code) || isAnchor && isRevocation(complaint.code) { continue }
            if isStrictOnly(complaint.code) || isAnchor && isOldAnchor(complaint.code, path) {
                strict.append("\(text(complaint.code)) (\(element))")
                continue
            }
            findings.append(finding(complaint.code, element, path, question))
        }
        if !strict.isEmpty {
            findings.append(Finding(.strict, .endpoint, strict.joined(separator: "; ")))
        }
        return findings
    }

    private static func complaints(
        about path: Path,
        _ question: Question
    ) -> [copenssl_complaint]? {
        // Safe: zeros and numbers; its pointers are only set below, for the length of the call.
        var asked = unsafe copenssl_question()
        unsafe asked.time = question.time.seconds
        let lists = question.revocationLists
        // Strict checking would also be applied to the paths of CRL issuers, where nothing tells
        // its complaints apart; so with lists it is left out.
        unsafe asked.flags = UInt(
            X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST
                | (lists.isEmpty
                    ? X509_V_FLAG_X509_STRICT
                    : X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL
                        | X509_V_FLAG_EXTENDED_CRL_SUPPORT | X509_V_FLAG_USE_DELTAS)
        )
        unsafe asked.host_flags = UInt32(
            X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
        )
        unsafe asked.purpose =
            question.purpose == .server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT
        unsafe asked.security_level = Int32(question.securityLevel)
        var host: [CChar] = []
        var address: [UInt8] = []
        switch question.name {
        case .dns(let name): host = name.utf8.map { CChar(bitPattern: $0) }
        case .ip(let ip): address = ip.octets
        case nil: break
        }
        var found = [copenssl_complaint](repeating: copenssl_complaint(), count: 64)
        // Safe: every buffer and every owner of a pointer lives until the call returns, and OpenSSL
        // keeps none of them. The capacity is the array's own count.
        let count = withExtendedLifetime((path, question)) {
            unsafe host.withUnsafeBufferPointer { host in
                unsafe address.withUnsafeBufferPointer { address in
                    if !host.isEmpty { unsafe asked.host = host.baseAddress }
                    unsafe asked.host_count = host.count
                    if !address.isEmpty { unsafe asked.ip = address.baseAddress }
                    unsafe asked.ip_count = address.count
                    var certificates = unsafe path.certificates.map {
                        unsafe Optional($0.handle.pointer)
                    }
                    // Issuers of CRLs can lie beside the path (a key rollover).
                    let beside = lists.isEmpty ? [] : path.others
                    var others = unsafe beside.map { unsafe Optional($0.handle.pointer) }
                    var listed = unsafe lists.map {
                        unsafe Optional($0.handle.pointer)
                    }
                    // Safe: as said above; each count is that of its array.
                    return unsafe copenssl_judge_path(
                        &certificates,
                        certificates.count,
                        &others,
                        others.count,
                        &listed,
                        listed.count,
                        &asked,
                        &found,
                        found.count
                    )
                }
            }
        }
        return count < 0 ? nil : Array(found.prefix(count))
    }

    static func text(_ code: Int32) -> String {
        // Safe: OpenSSL returns a string that is never freed, for any number.
        unsafe String(cString: X509_verify_cert_error_string(Int(code)))
    }
}
