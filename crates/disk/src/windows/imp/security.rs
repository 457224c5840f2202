//! Access control lists: who besides the owner may read a file.

use std::ffi::c_void;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{LocalFree, WIN32_ERROR};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, GetSecurityInfo, SDDL_REVISION_1,
    SE_FILE_OBJECT,
};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACL, AdjustTokenPrivileges, DACL_SECURITY_INFORMATION, EqualSid, GetAce,
    GetSecurityDescriptorControl, GetTokenInformation, INHERIT_ONLY_ACE, IsWellKnownSid, LookupPrivilegeValueW,
    OWNER_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID,
    SE_CREATE_SYMBOLIC_LINK_NAME, SE_DACL_PROTECTED, SE_PRIVILEGE_ENABLED, SetKernelObjectSecurity,
    TOKEN_ADJUST_PRIVILEGES, TOKEN_INFORMATION_CLASS, TOKEN_PRIVILEGES, TOKEN_QUERY, TokenOwner, TokenUser,
    UNPROTECTED_DACL_SECURITY_INFORMATION, WinBuiltinAdministratorsSid, WinCreatorOwnerRightsSid, WinLocalSystemSid,
    WinWorldSid,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::super::errno::Errno;
use super::done;

/// The type of an entry that grants rights: `ACCESS_ALLOWED_ACE_TYPE`.
const ALLOWED: u8 = 0;
/// The types of entries that take rights away: for all files, for certain kinds of objects, on a condition, and both.
const DENIED: [u8; 4] = [1, 6, 10, 12];
/// Reading, writing, appending, removing what is in a folder, removing, changing the rights, changing the owner, and
/// all rights at once.
const RIGHTS: u32 = 0x1 | 0x2 | 0x4 | 0x40 | 0x0001_0000 | 0x0004_0000 | 0x0008_0000 | 0xf000_0000;

/// A security descriptor, in memory of the system.
#[derive(Debug)]
pub(crate) struct Descriptor(PSECURITY_DESCRIPTOR);

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the system has given this memory to this value, which uses it no more.
        unsafe {
            LocalFree(self.0);
        }
    }
}

impl Descriptor {
    /// Returns a descriptor that grants all rights to this user and to the system, and to nobody else. Folders give it
    /// to what is made in them.
    pub(crate) fn of_this_user() -> Result<Self, Errno> {
        let user = User::of_process()?;
        let mut text = null_mut();
        // SAFETY: the identifier lives during the call, and the call may write to `text`.
        done(unsafe { ConvertSidToStringSidW(user.sid(), &mut text) })?;
        // SAFETY: the system wrote a text that ends with a zero.
        let characters =
            unsafe { std::slice::from_raw_parts(text, (0..).take_while(|at| *text.add(*at) != 0).count()) };
        let sid = String::from_utf16_lossy(characters);
        // SAFETY: the system has given this memory, and nobody uses it any more.
        unsafe {
            LocalFree(text.cast());
        }
        Self::of_text(&format!("D:P(A;OICI;FA;;;{sid})(A;OICI;FA;;;SY)"))
    }

    /// Returns the descriptor of a text in the system's language for descriptors.
    fn of_text(text: &str) -> Result<Self, Errno> {
        let list: Vec<u16> = text.encode_utf16().chain([0]).collect();
        let mut descriptor = null_mut();
        // SAFETY: the text ends with a zero, and the call may write to `descriptor`.
        done(unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                list.as_ptr(),
                SDDL_REVISION_1,
                &mut descriptor,
                null_mut(),
            )
        })?;
        Ok(Self(descriptor))
    }

    pub(super) fn pointer(&self) -> *const c_void {
        self.0
    }

    /// Gives the access control list of this descriptor to an open file, which then takes nothing from its folder.
    pub(crate) fn give_to(&self, file: BorrowedHandle<'_>) -> Result<(), Errno> {
        let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
        // SAFETY: the descriptor is valid.
        done(unsafe { SetKernelObjectSecurity(file.as_raw_handle(), what, self.0) })
    }
}

/// Whether users other than the owner of this process, its administrators and the system can read or change a file.
/// Also returns true if the file belongs to another user.
pub(crate) fn is_open_to_others(file: BorrowedHandle<'_>) -> Result<bool, Errno> {
    Security::of(file)?.grants_to_others()
}

/// The owner and the access control list of a file. Both lie in the descriptor.
struct Security {
    owner: PSID,
    list: *mut ACL,
    descriptor: Descriptor,
}

impl Security {
    fn of(file: BorrowedHandle<'_>) -> Result<Self, Errno> {
        let (mut owner, mut list, mut descriptor): (PSID, *mut ACL, _) = (null_mut(), null_mut(), null_mut());
        let what = DACL_SECURITY_INFORMATION | OWNER_SECURITY_INFORMATION;
        // SAFETY: the arguments are places to write to, or null where that is allowed.
        succeeded(unsafe {
            GetSecurityInfo(
                file.as_raw_handle(),
                SE_FILE_OBJECT,
                what,
                &mut owner,
                null_mut(),
                &mut list,
                null_mut(),
                &mut descriptor,
            )
        })?;
        Ok(Self { owner, list, descriptor: Descriptor(descriptor) })
    }

    fn grants_to_others(&self) -> Result<bool, Errno> {
        let user = User::of_process()?;
        let Self { owner, list, .. } = *self;
        if list.is_null() {
            // Without a list, everybody has all rights.
            return Ok(true);
        }
        // SAFETY: the list belongs to the descriptor, which still lives.
        let count = unsafe { (*list).AceCount };
        for index in 0..u32::from(count) {
            let mut entry: *mut c_void = null_mut();
            // SAFETY: the list has an entry with this number.
            done(unsafe { GetAce(list, index, &mut entry) })?;
            let entry = entry.cast::<ACCESS_ALLOWED_ACE>();
            // SAFETY: each entry begins with its header.
            let header = unsafe { (*entry).Header };
            if DENIED.contains(&header.AceType) || u32::from(header.AceFlags) & INHERIT_ONLY_ACE != 0 {
                continue;
            }
            if header.AceType != ALLOWED {
                // Other entries grant rights on conditions, which are not read here.
                return Ok(true);
            }
            // SAFETY: an entry of this type has this form: the rights, then the identifier.
            let (rights, sid) = unsafe { ((*entry).Mask, (&raw mut (*entry).SidStart).cast::<c_void>()) };
            if rights & RIGHTS != 0 && !user.is_same_or_system(sid) {
                return Ok(true);
            }
        }
        Ok(!user.is_same_or_system(owner))
    }
}

/// Gives the access control list of one file to another. The other file then takes entries from its folder only if the
/// first one does.
pub(crate) fn copy_list(from: BorrowedHandle<'_>, to: BorrowedHandle<'_>) -> Result<(), Errno> {
    let Descriptor(descriptor) = &Security::of(from)?.descriptor;
    let (mut control, mut revision) = (0, 0);
    // SAFETY: the descriptor is valid, and the other arguments are places to write to.
    done(unsafe { GetSecurityDescriptorControl(*descriptor, &mut control, &mut revision) })?;
    let is_protected = control & SE_DACL_PROTECTED != 0;
    let kind = if is_protected { PROTECTED_DACL_SECURITY_INFORMATION } else { UNPROTECTED_DACL_SECURITY_INFORMATION };
    // SAFETY: the descriptor is valid.
    done(unsafe { SetKernelObjectSecurity(to.as_raw_handle(), DACL_SECURITY_INFORMATION | kind, *descriptor) })
}

/// Who owns a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// This user, or the group that owns what this process makes: the administrators, if it runs with their rights.
    This,
    /// Nobody: the file system has no owners.
    Nobody,
    /// Another user.
    Other,
}

/// Returns who owns a file.
pub(crate) fn owner(file: BorrowedHandle<'_>) -> Result<Owner, Errno> {
    let Security { owner, descriptor: _descriptor, .. } = Security::of(file)?;
    if owner.is_null() {
        return Ok(Owner::Other);
    }
    let (user, maker) = (User::of_process()?, User::of_new_files()?);
    // SAFETY: all identifiers are valid, because the system wrote them.
    Ok(unsafe {
        if EqualSid(owner, user.sid()) != 0 || EqualSid(owner, maker.sid()) != 0 {
            Owner::This
        } else if IsWellKnownSid(owner, WinWorldSid) != 0 {
            // Windows says this of file systems without owners, such as FAT.
            Owner::Nobody
        } else {
            Owner::Other
        }
    })
}

/// The user of this process, or the owner of the files that this process makes.
struct User(Vec<u64>);

impl User {
    fn of_process() -> Result<Self, Errno> {
        Self::known(TokenUser)
    }

    fn of_new_files() -> Result<Self, Errno> {
        Self::known(TokenOwner)
    }

    fn known(class: TOKEN_INFORMATION_CLASS) -> Result<Self, Errno> {
        let mut token = null_mut();
        // SAFETY: the call may write to `token`. The handle of this process is a constant, so nothing has to close it.
        done(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) })?;
        // SAFETY: the call has succeeded, so the handle is open and belongs to nobody else.
        let token = unsafe { OwnedHandle::from_raw_handle(token) };
        // An identifier has at most 68 bytes.
        let (mut buffer, mut length) = (vec![0_u64; 32], 0);
        // SAFETY: the system writes at most as many bytes as the buffer has.
        done(unsafe {
            GetTokenInformation(
                token.as_raw_handle(),
                class,
                buffer.as_mut_ptr().cast(),
                size_of_val(&buffer[..]) as u32,
                &mut length,
            )
        })?;
        Ok(Self(buffer))
    }

    fn sid(&self) -> PSID {
        // SAFETY: the system wrote a structure to the beginning of the buffer, which has its alignment. Both structures
        // begin with a pointer to an identifier.
        unsafe { *self.0.as_ptr().cast::<PSID>() }
    }

    /// Whether an identifier means this user, the system, or its administrators. Null means nobody that is known.
    fn is_same_or_system(&self, sid: PSID) -> bool {
        if sid.is_null() {
            return false;
        }
        // SAFETY: both identifiers are valid, because the system wrote them.
        unsafe {
            EqualSid(sid, self.sid()) != 0
                || [WinLocalSystemSid, WinBuiltinAdministratorsSid, WinCreatorOwnerRightsSid]
                    .into_iter()
                    .any(|known| IsWellKnownSid(sid, known) != 0)
        }
    }
}

/// Switches on the right to make symbolic links, if the user of this process has it. Windows gives the right to
/// administrators, and leaves it off.
pub(crate) fn allow_links() -> Result<(), Errno> {
    let mut token = null_mut();
    // SAFETY: the call may write to `token`. The handle of this process is a constant, so nothing has to close it.
    done(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &mut token) })?;
    // SAFETY: the call has succeeded, so the handle is open and belongs to nobody else.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    let mut rights = TOKEN_PRIVILEGES { PrivilegeCount: 1, ..TOKEN_PRIVILEGES::default() };
    rights.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
    // SAFETY: the name ends with a zero, and the call may write to the number.
    done(unsafe { LookupPrivilegeValueW(null(), SE_CREATE_SYMBOLIC_LINK_NAME, &mut rights.Privileges[0].Luid) })?;
    // SAFETY: the table has one right, as its head says. The earlier rights are not asked for.
    done(unsafe { AdjustTokenPrivileges(token.as_raw_handle(), 0, &rights, 0, null_mut(), null_mut()) })
}

fn succeeded(error: WIN32_ERROR) -> Result<(), Errno> {
    if error == 0 { Ok(()) } else { Err(Errno::from_code(error)) }
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::Security::{GetSecurityDescriptorDacl, GetSecurityDescriptorOwner};

    use super::*;

    /// Whether others have access. If `kind` is given, the first entry of the list gets this type.
    fn is_open(text: &str, kind: Option<u8>) -> bool {
        let descriptor = Descriptor::of_text(text).expect("a descriptor");
        let (mut owner, mut list, mut flag): (PSID, *mut ACL, _) = (null_mut(), null_mut(), 0);
        let pointer = descriptor.0;
        // SAFETY: the descriptor is valid, and the other arguments are places to write to.
        unsafe {
            done(GetSecurityDescriptorOwner(pointer, &mut owner, &mut flag)).expect("an owner or null");
            done(GetSecurityDescriptorDacl(pointer, &mut flag, &mut list, &mut flag)).expect("a list or null");
        }
        if let Some(kind) = kind {
            let mut entry: *mut c_void = null_mut();
            // SAFETY: the list has a first entry, which begins with its header.
            unsafe {
                done(GetAce(list, 0, &mut entry)).expect("an entry");
                (*entry.cast::<ACCESS_ALLOWED_ACE>()).Header.AceType = kind;
            }
        }
        Security { owner, list, descriptor }.grants_to_others().expect("asked")
    }

    #[test]
    fn each_right_of_others_is_seen() {
        for list in ["", "(A;;FA;;;SY)(A;;FA;;;BA)", "(D;;FA;;;WD)(A;;FA;;;SY)", "(A;;0x100080;;;WD)", "(A;IO;FA;;;WD)"]
        {
            assert!(!is_open(&format!("O:SYD:{list}"), None), "{list}");
        }
        // Reading, writing, appending, removing, removing from the folder, and changing the list.
        for right in ["0x1", "0x2", "0x4", "SD", "0x40", "WD", "WO", "GA", "FA"] {
            assert!(is_open(&format!("O:SYD:(A;;FA;;;SY)(A;;{right};;;WD)"), None), "{right}");
        }
        // Entries for kinds of objects and on conditions, and entries that nobody knows yet.
        for kind in [4, 5, 9, 11, 99] {
            assert!(is_open("O:SYD:(A;;FA;;;SY)", Some(kind)), "{kind}");
        }
        assert!(!is_open("O:SYD:(A;;FA;;;WD)", Some(10)), "rights are taken away on a condition");
        assert!(is_open("O:WDD:(A;;FA;;;SY)", None), "another owner");
        assert!(is_open("D:(A;;FA;;;SY)", None), "no owner");
        assert!(is_open("O:SY", None), "no list");
    }
}
