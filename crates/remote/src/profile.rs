//! Reads the settings that tools for S3 keep in files: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use object_store::aws::AmazonS3ConfigKey;

/// The settings of one profile.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile(BTreeMap<String, String>);

impl Profile {
    /// Reads the profile in the environment variable `AWS_PROFILE`, or else the profile `default`.
    pub(crate) fn find() -> Result<Self, String> {
        let named = env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
        let name = named.as_deref().unwrap_or("default");
        let mut profile = Self::default();
        for (variable, file) in [("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")] {
            let given = env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
            let usual = || env::home_dir().map(|home| home.join(".aws").join(file));
            let Some(path) = given.or_else(usual) else { continue };
            match fs::read_to_string(&path) {
                Ok(text) => profile.take(&text, name),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
            }
        }
        match named {
            Some(name) if profile.0.is_empty() => {
                Err(format!("AWS_PROFILE names {name}, and there is no such profile"))
            }
            _ => Ok(profile),
        }
    }

    /// Adds the settings for the profile with this name from the text of a file.
    fn take(&mut self, text: &str, name: &str) {
        let mut is_here = false;
        for line in text.lines() {
            // An indented line belongs to a setting that has several values.
            let (line, is_nested) = (line.trim_end(), line.starts_with([' ', '\t']));
            if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
                let title = title.trim();
                is_here = title == name || title.strip_prefix("profile ").is_some_and(|rest| rest.trim() == name);
            } else if let (true, false, Some((key, value))) = (is_here, is_nested, line.split_once('='))
                && !line.starts_with(['#', ';'])
            {
                self.0.insert(key.trim().to_lowercase(), value.trim().to_owned());
            }
        }
    }

    /// Returns the settings, each with the client's name for it.
    pub(crate) fn settings(self) -> impl Iterator<Item = (AmazonS3ConfigKey, String)> {
        self.0.into_iter().filter_map(|(key, value)| {
            let key = match key.as_str() {
                "aws_access_key_id" => AmazonS3ConfigKey::AccessKeyId,
                "aws_secret_access_key" => AmazonS3ConfigKey::SecretAccessKey,
                "aws_session_token" => AmazonS3ConfigKey::Token,
                "region" => AmazonS3ConfigKey::DefaultRegion,
                "endpoint_url" => AmazonS3ConfigKey::Endpoint,
                _ => return None,
            };
            Some((key, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_in_both_files() {
        let config = "[default]\nregion = eu-central-1\n[profile work]\nregion=us-east-2\ns3 =\n  max_queue_size = 9\n";
        let credentials = "# a comment\n[default]\naws_access_key_id = A\n\n[work]\naws_access_key_id=B=\n;x = y\n";
        let read = |name| {
            let mut profile = Profile::default();
            profile.take(config, name);
            profile.take(credentials, name);
            profile.settings().map(|(key, value)| (key.as_ref().to_owned(), value)).collect::<Vec<_>>()
        };
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let default = [pair("aws_access_key_id", "A"), pair("aws_default_region", "eu-central-1")];
        assert_eq!(read("default"), default);
        assert_eq!(read("work"), [pair("aws_access_key_id", "B="), pair("aws_default_region", "us-east-2")]);
        assert_eq!(read("other"), []);
    }
}
