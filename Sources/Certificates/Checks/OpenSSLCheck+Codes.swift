internal import COpenSSL

// What OpenSSL's verification codes mean here.

extension OpenSSLCheck {
    static func isDate(_ code: Int32) -> Bool {
        [X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED].contains(code)
    }

    static func isRevocation(_ code: Int32) -> Bool { revocationKinds[code] != nil }

    /// Complaints that only X509_STRICT makes (check_extensions in OpenSSL's x509_vfy.c).
    static func isStrictOnly(_ code: Int32) -> Bool {
        [
            X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA, X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN,
            X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
            X509_V_ERR_CA_CERT_MISSING_KEY_USAGE, X509_V_ERR_ISSUER_NAME_EMPTY,
            X509_V_ERR_SUBJECT_NAME_EMPTY, X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL,
            X509_V_ERR_EMPTY_SUBJECT_ALT_NAME, X509_V_ERR_AUTHORITY_KEY_IDENTIFIER_CRITICAL,
            X509_V_ERR_SUBJECT_KEY_IDENTIFIER_CRITICAL,
            X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER,
            X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER, X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3,
            X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY, X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH,
            X509_V_ERR_EC_KEY_EXPLICIT_PARAMS,
        ].contains(code)
    }

    /// An old root that cannot say that it is an authority: self-issued of version 1, or without
    /// basic constraints but with keyCertSign. Only strict checking refuses those. A leaf that is
    /// configured as an anchor is neither, and so never an authority over others.
    static func isOldAnchor(_ code: Int32, _ path: Path) -> Bool {
        guard [X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_PURPOSE].contains(code),
            path.certificates.count > 1, let anchor = path.anchor?.certificate,
            anchor.decoded.basicConstraints.isAbsent, anchor.decoded.extendedKeyUsage.isAbsent
        else { return false }
        return anchor.version == 1 && anchor.isSelfIssued
            || anchor.decoded.keyUsage.value?.signsCertificates == true
    }

    static func finding(
        _ code: Int32,
        _ element: Finding.Element,
        _ path: Path,
        _ question: Question
    ) -> Finding {
        let text = text(code)
        if let kind = kinds[code] ?? revocationKinds[code] {
            let isName =
                code == X509_V_ERR_HOSTNAME_MISMATCH
                || code == X509_V_ERR_IP_ADDRESS_MISMATCH
            return Finding(
                isName && path.leaf.decoded.subjectAlternativeNames.isAbsent
                    ? .noAlternativeName : kind,
                element,
                isName ? AlternativeNameCheck.mismatch(path.leaf, question) : text
            )
        }
        if [
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_AKID_SKID_MISMATCH,
            X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH,
        ].contains(code) {
            // The search verified every signature of the path, so only the identifiers are left.
            return Finding(.keyIdentifierMismatch, element, text)
        }
        return Finding(.notTrusted, element, "\(text) (\(code))")
    }

    private static let kinds: [Int32: Finding.Kind] = [
        X509_V_ERR_CERT_SIGNATURE_FAILURE: .badSignature,
        X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: .badSignature,
        X509_V_ERR_INVALID_CA: .notAnAuthority,
        X509_V_ERR_KEYUSAGE_NO_CERTSIGN: .notAnAuthority,
        X509_V_ERR_PATH_LENGTH_EXCEEDED: .pathLength,
        X509_V_ERR_CERT_CHAIN_TOO_LONG: .depth,
        X509_V_ERR_INVALID_PURPOSE: .extendedKeyUsage,
        X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: .unknownCritical,
        X509_V_ERR_INVALID_EXTENSION: .malformedExtension,
        X509_V_ERR_INVALID_POLICY_EXTENSION: .malformedExtension,
        X509_V_ERR_PERMITTED_VIOLATION: .constraintViolated,
        X509_V_ERR_EXCLUDED_VIOLATION: .constraintViolated,
        X509_V_ERR_SUBTREE_MINMAX: .constraintViolated,
        X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE: .constraintViolated,
        X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX: .constraintViolated,
        X509_V_ERR_UNSUPPORTED_NAME_SYNTAX: .constraintViolated,
        X509_V_ERR_HOSTNAME_MISMATCH: .nameMismatch,
        X509_V_ERR_IP_ADDRESS_MISMATCH: .nameMismatch,
        X509_V_ERR_EE_KEY_TOO_SMALL: .weakKey,
        X509_V_ERR_CA_KEY_TOO_SMALL: .weakKey,
        X509_V_ERR_CA_MD_TOO_WEAK: .weakSignature,
    ]

    private static let revocationKinds: [Int32: Finding.Kind] = [
        X509_V_ERR_CERT_REVOKED: .revoked,
        X509_V_ERR_UNABLE_TO_GET_CRL: .noRevocationList,
        X509_V_ERR_DIFFERENT_CRL_SCOPE: .noRevocationList,
        X509_V_ERR_CRL_HAS_EXPIRED: .revocationListExpired,
        X509_V_ERR_CRL_NOT_YET_VALID: .revocationListExpired,
        X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER: .revocationListInvalid,
        X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE: .revocationListInvalid,
        X509_V_ERR_CRL_SIGNATURE_FAILURE: .revocationListInvalid,
        X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD: .revocationListInvalid,
        X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD: .revocationListInvalid,
        X509_V_ERR_KEYUSAGE_NO_CRL_SIGN: .revocationListInvalid,
        X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION: .revocationListInvalid,
        X509_V_ERR_CRL_PATH_VALIDATION_ERROR: .revocationListInvalid,
    ]
}
